import { defineEntity, p } from "@mikro-orm/postgresql";
import type { Storage } from "./columns.ts";
import type { Resource } from "./resource.ts";
import { resources } from "./resources/index.ts";

/** Texts are ordered by their bytes, as the API specifies (PRJ-06). */
const text = () => p.text().collation("C").nullable();

const builders = {
  text,
  // Upstream integers may be wider than those of Postgres.
  number: () => p.double().nullable(),
  boolean: () => p.boolean().nullable(),
  // Not jsonb: the response preserves the order of members.
  json: () => p.text().columnType("json").nullable(),
  localized: () => p.text().columnType("json").nullable(),
} satisfies Record<Storage, () => unknown>;

/**
 * Indexes of selective filters. Enumerations have none: a page in id order finds their rows quickly.
 * Upstream texts may be too long for a B-tree, so these indexes use hashes.
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
      /** Ids of the other entities, and keys of the texts, the row was computed from. */
      companions: p.text().columnType("json"),
      textKeys: p.text().columnType("json"),
      /** Hashes over these inputs and the projector version. */
      inputsHash: p.character().length(64),
      textsHash: p.character().length(64),
      /** `[column, slug, upstream value]` */
      enums: p.text().columnType("json"),
    },
  });
}

/** One table for each resource. */
export const projectionTables = resources.map(tableOf);
