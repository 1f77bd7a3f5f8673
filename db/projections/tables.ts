import { defineEntity, p } from "@mikro-orm/postgresql";
import type { Storage } from "./columns.ts";
import type { Resource } from "./resource.ts";
import { resources } from "./resources/index.ts";

/** Texts are ordered by their bytes, as their readers order them (PRJ-06). */
const text = () => p.text().collation("C").nullable();

const builders = {
  text,
  // Upstream's integers may be wider than the database's.
  number: () => p.double().nullable(),
  boolean: () => p.boolean().nullable(),
  // Not jsonb: the order of members is part of the answer.
  json: () => p.text().columnType("json").nullable(),
  localized: () => p.text().columnType("json").nullable(),
} satisfies Record<Storage, () => unknown>;

function tableOf({ table, columns }: Resource) {
  const { id: _, ...rest } = columns;
  const properties = Object.entries(rest).map(([name, { storage }]) => [
    name,
    builders[storage]().fieldName(name),
  ]);
  return defineEntity({
    name: table,
    tableName: table,
    properties: {
      id: p.text().collation("C").primary(),
      ...(Object.fromEntries(properties) as Record<string, ReturnType<typeof text>>),
      /** Ids of other entities, and keys of texts, that the row was made from. */
      companions: p.text().columnType("json"),
      textKeys: p.text().columnType("json"),
      /** Hashes over those and over the version of the projector. */
      inputsHash: p.character().length(64),
      textsHash: p.character().length(64),
      /** `[column, slug, upstream value]` */
      enums: p.text().columnType("json"),
    },
  });
}

/** One table for each resource. */
export const projectionTables = resources.map(tableOf);
