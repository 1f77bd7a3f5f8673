import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import type { Storage } from "../../projections/columns.ts";
import type { EnumEntry, Projected, Row } from "../../projections/project.ts";
import type { Resource } from "../../projections/resource.ts";
import { rowsOf } from "../rows.ts";

/** Hashes of the inputs a row was computed from. */
export interface InputHashes {
  id: string;
  companions: string[];
  textKeys: string[];
  inputsHash: string;
  textsHash: string;
}

/** A row of a table with all columns. */
export interface StoredRow extends Projected {
  inputsHash: string;
  textsHash: string;
}

const types: Readonly<Record<Storage, string>> = {
  text: "text",
  number: "float8",
  boolean: "boolean",
  json: "json",
  localized: "json",
};

const inputHashTypes = {
  companions: "json",
  text_keys: "json",
  inputs_hash: "char(64)",
  texts_hash: "char(64)",
  enums: "json",
} as const;

/** Name and type of every column of a table. */
const fieldsOf = ({ columns }: Resource): [name: string, type: string][] => [
  ...Object.entries(columns).map(([name, { storage }]): [string, string] => [name, types[storage]]),
  ...Object.entries(inputHashTypes),
];

/** A row as the table stores it, in a form that can be written back unchanged. */
export type RowRecord = Readonly<Record<string, unknown>>;

export const recordOf = (stored: StoredRow): RowRecord => ({
  ...stored.row,
  companions: stored.companions,
  text_keys: stored.textKeys,
  inputs_hash: stored.inputsHash,
  texts_hash: stored.textsHash,
  enums: stored.enums,
});

/** The input hashes of every row; text hashes are empty unless requested. */
export function readInputHashes(
  em: EntityManager,
  { table }: Resource,
  hasTexts: boolean,
): Promise<InputHashes[]> {
  const texts = hasTexts
    ? sql`text_keys as "textKeys", texts_hash as "textsHash"`
    : sql`'[]'::json as "textKeys", '' as "textsHash"`;
  // Raw SQL: the table comes from a resource declaration.
  return rowsOf(
    em,
    sql<InputHashes>`select id, companions, inputs_hash as "inputsHash", ${texts}
      from ${sql.table(table)}`,
  );
}

/** A row that an entity may contribute to. */
export interface RowPart extends Pick<InputHashes, "id" | "companions" | "inputsHash"> {
  table: string;
  enums: EnumEntry[];
}

/** The rows that represent one of the entities or were computed from one. */
export async function listRowsAbout(
  em: EntityManager,
  among: readonly Resource[],
  ids: readonly string[],
): Promise<RowPart[]> {
  if (ids.length === 0) return [];
  // An id contains its type (COD-16).
  const byType = Map.groupBy(ids, (id) => id.split(".")[1] ?? "");
  const parts = among.flatMap(({ table, type }) => {
    const row = sql`${table} as "table", r.id, companions, inputs_hash as "inputsHash", enums`;
    const own = byType.get(type) ?? [];
    // One index lookup per row: a plain join would read the whole table for a few rows.
    const ofThem = sql`select ${row} from unnest(${own}::text[]) as own(id)
      cross join lateral (select * from ${sql.table(table)} where id = own.id limit 1) r`;
    // Many rows share the same source entities, so each distinct list is unnested once.
    const fromThem = sql`select ${row} from ${sql.table(table)} r
      join (
        select distinct c.list from (
          select distinct companions::text as list from ${sql.table(table)}) c,
          json_array_elements_text(c.list::json) one join about on about.id = one
      ) hit on hit.list = r.companions::text
      where r.id <> all(${own}::text[])`;
    return own.length === 0 ? [fromThem] : [ofThem, fromThem];
  });
  // Raw SQL: the table comes from a resource declaration.
  return rowsOf(
    em,
    sql<RowPart>`with about as materialized (select unnest(${ids}::text[]) as id)
      ${sql.join(parts, sql` union all `)}`,
  );
}

export async function readRecords(
  em: EntityManager,
  resource: Resource,
  ids: readonly string[],
): Promise<Map<string, RowRecord>> {
  // Raw SQL: the table comes from a resource declaration.
  const rows = await rowsOf(
    em,
    sql<RowRecord & { id: string }>`select ${columnList(fieldsOf(resource))}
      from ${sql.table(resource.table)} where id = any(${ids}::text[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const columnList = (fields: readonly (readonly [string, string])[]): RawBuilder<unknown> =>
  sql.join(fields.map(([name]) => sql.ref(name)));

/** Inserts the rows, replacing those with the same id. */
export async function saveRecords(
  em: EntityManager,
  resource: Resource,
  records: readonly RowRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const fields = fieldsOf(resource);
  const names = columnList(fields);
  const typed = sql.join(fields.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`));
  const updates = sql.join(
    fields.map(([name]) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
  );
  // Raw SQL: the table comes from a resource declaration.
  await rowsOf(
    em,
    sql`insert into ${sql.table(resource.table)} (${names})
      select ${names} from json_to_recordset(${JSON.stringify(records)}::json) as x(${typed})
      order by id collate "C"
      on conflict (id) do update set ${updates}`,
  );
}

export async function deleteRecords(
  em: EntityManager,
  { table }: Resource,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  // Raw SQL: the table comes from a resource declaration.
  await rowsOf(em, sql`delete from ${sql.table(table)} where id = any(${ids}::text[])`);
}

/** The row with this id, with all columns. */
export async function findRow(
  em: EntityManager,
  resource: Resource,
  id: string,
): Promise<Row | null> {
  const names = sql.join(Object.keys(resource.columns).map((name) => sql.ref(name)));
  // Raw SQL: the table comes from a resource declaration.
  const [row] = await rowsOf(
    em,
    sql<Row>`select ${names} from ${sql.table(resource.table)} where id = ${id}`,
  );
  return row ?? null;
}

/** Every distinct enumerated value in use. */
export async function readEnumValues(
  em: EntityManager,
  among: readonly Resource[],
): Promise<EnumEntry[]> {
  const parts = among.map(
    ({ table }) =>
      sql`select x.value::text as entry from ${sql.table(table)}, json_array_elements(enums) x`,
  );
  // Raw SQL: the type comes from a resource declaration.
  const rows = await rowsOf(
    em,
    sql<{ entry: string }>`select distinct entry collate "C" as entry
      from (${sql.join(parts, sql` union all `)}) all_entries order by 1`,
  );
  return rows.map(({ entry }) => JSON.parse(entry) as EnumEntry);
}
