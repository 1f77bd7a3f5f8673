import { defineEntity, p } from "@mikro-orm/postgresql";

export type BuildStatus = "preview" | "applied" | "reverted";

/** A rebuild of the projection independent of imports: previewed, applied, rolled back. */
export const ProjectionBuildSchema = defineEntity({
  name: "ProjectionBuild",
  tableName: "projection_builds",
  properties: {
    id: p.integer().primary(),
    gameId: p.integer(),
    /** `preview`, `applied`, `reverted` */
    status: p.string().$type<BuildStatus>().length(16),
    projectorVersion: p.integer(),
    /** Generation of the game it was computed from; once applied, the generation it created. */
    generation: p.integer(),
    numAdded: p.integer(),
    numChanged: p.integer(),
    numRemoved: p.integer(),
    createdAt: p.datetime(),
    appliedAt: p.datetime().nullable(),
    revertedAt: p.datetime().nullable(),
  },
});

/** A row that a rebuild adds, changes or removes, with all columns before and after. */
export const ProjectionChangeSchema = defineEntity({
  name: "ProjectionChange",
  tableName: "projection_changes",
  properties: {
    buildId: p.integer().primary(),
    rowId: p.text().collation("C").primary(),
    resource: p.string().length(64),
    /** The table row as JSON; `before` is null for an added row, `after` for a removed one. */
    before: p.text().columnType("json").nullable(),
    after: p.text().columnType("json").nullable(),
  },
});
