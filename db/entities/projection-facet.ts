import { defineEntity, p } from "@mikro-orm/postgresql";

/** A slug in use in an enumerated column, with its label (PRJ-10). */
export const ProjectionFacetSchema = defineEntity({
  name: "ProjectionFacet",
  tableName: "projection_facets",
  properties: {
    column: p.text().fieldName("column_name").collation("C").primary(),
    slug: p.text().collation("C").primary(),
    /** Locale -> label; empty if no text provides one. */
    labels: p.text().columnType("json"),
  },
});
