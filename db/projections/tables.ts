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

/**
 * Indexes of the filters that few rows answer to. Enumerations have none: a page of theirs is found soon by id.
 * Texts of upstream may be longer than a tree takes, so they are hashed.
 */
function indexesOf({ table, columns, filters }: Resource) {
  return filters.flatMap(({ column, kind, absent }) => {
    const { storage, known } = columns[column] ?? {};
    const isRange = kind === "min" && storage === "number" && absent === undefined;
    const isName = kind === "archetype" || (kind === "equals" && known === undefined);
    if (!isRange && !(isName && storage === "text")) return [];
    const name = `${table}_${column}_index`;
    const method = isRange ? "btree" : "hash";
    return { name, expression: `create index ${name} on ${table} using ${method} (${column})` };
  });
}

function tableOf(resource: Resource) {
  const { table, columns } = resource;
  const { id: _, ...rest } = columns;
  const properties = Object.entries(rest).map(([name, { storage }]) => [
    name,
    builders[storage]().fieldName(name),
  ]);
  return defineEntity({
    name: table,
    tableName: table,
    indexes: indexesOf(resource),
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
