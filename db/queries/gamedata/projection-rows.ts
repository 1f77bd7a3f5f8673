import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import type { Storage } from "../../projections/columns.ts";
import type { EnumEntry, Projected, Row } from "../../projections/project.ts";
import type { Resource } from "../../projections/resource.ts";
import { rowsOf } from "../rows.ts";

/** What a row was made from, beside its content. */
export interface InputHashes {
  id: string;
  companions: string[];
  textKeys: string[];
  inputsHash: string;
  textsHash: string;
}

/** A row of a table, whole. */
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

/** The record of a row as the table has it; it can be written again as it is. */
export type RowRecord = Readonly<Record<string, unknown>>;

export const recordOf = (stored: StoredRow): RowRecord => ({
  ...stored.row,
  companions: stored.companions,
  text_keys: stored.textKeys,
  inputs_hash: stored.inputsHash,
  texts_hash: stored.textsHash,
  enums: stored.enums,
});

/** The input hashes of every row; those of texts are empty unless asked for. */
export async function readInputHashes(
  em: EntityManager,
  { table }: Resource,
  hasTexts: boolean,
): Promise<InputHashes[]> {
  // One document: a row each would cost more than the comparison they are for.
  const texts = hasTexts ? sql`text_keys, texts_hash` : sql`'[]'::json, ''`;
  // Text: the table comes from a declaration.
  const [row] = await rowsOf(
    em,
    sql<{ marks: string | null }>`
      select json_agg(json_build_array(id, companions, inputs_hash, ${texts}))::text as marks
      from ${sql.table(table)}`,
  );
  const marks = JSON.parse(row?.marks ?? "[]") as [string, string[], string, string[], string][];
  return marks.map(([id, companions, inputsHash, textKeys, textsHash]) => ({
    id,
    companions,
    inputsHash,
    textKeys,
    textsHash,
  }));
}

/** A row that an entity may have a part in. */
export interface RowPart extends Pick<InputHashes, "id" | "companions" | "inputsHash"> {
  table: string;
  enums: EnumEntry[];
}

/** The rows that are of one of the entities, or were made from one. */
export async function listRowsAbout(
  em: EntityManager,
  among: readonly Resource[],
  ids: readonly string[],
): Promise<RowPart[]> {
  if (ids.length === 0) return [];
  // An id names its type (COD-16).
  const byType = Map.groupBy(ids, (id) => id.split(".")[1] ?? "");
  const parts = among.flatMap(({ table, type }) => {
    const row = sql`${table} as "table", r.id, companions, inputs_hash as "inputsHash", enums`;
    const own = byType.get(type) ?? [];
    // Row by row over the index: a plain join would read the whole table for a few rows.
    const ofThem = sql`select ${row} from unnest(${own}::text[]) as own(id)
      cross join lateral (select * from ${sql.table(table)} where id = own.id limit 1) r`;
    // Many rows were made from the same entities, so each list of them is taken apart once.
    const fromThem = sql`select ${row} from ${sql.table(table)} r
      join (
        select distinct c.list from (
          select distinct companions::text as list from ${sql.table(table)}) c,
          json_array_elements_text(c.list::json) one join about on about.id = one
      ) hit on hit.list = r.companions::text
      where r.id <> all(${own}::text[])`;
    return own.length === 0 ? [fromThem] : [ofThem, fromThem];
  });
  // Text: the table comes from a declaration.
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
  // Text: the table comes from a declaration.
  const rows = await rowsOf(
    em,
    sql<RowRecord & { id: string }>`select ${columnList(fieldsOf(resource))}
      from ${sql.table(resource.table)} where id = any(${ids}::text[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const columnList = (fields: readonly (readonly [string, string])[]): RawBuilder<unknown> =>
  sql.join(fields.map(([name]) => sql.ref(name)));

/** Adds the rows, or puts them in the place of those with the same id. */
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
  // Text: the table comes from a declaration.
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
  // Text: the table comes from a declaration.
  await rowsOf(em, sql`delete from ${sql.table(table)} where id = any(${ids}::text[])`);
}

/** The row with this id, with every column. */
export async function findRow(
  em: EntityManager,
  resource: Resource,
  id: string,
): Promise<Row | null> {
  const names = sql.join(Object.keys(resource.columns).map((name) => sql.ref(name)));
  // Text: the table comes from a declaration.
  const [row] = await rowsOf(
    em,
    sql<Row>`select ${names} from ${sql.table(resource.table)} where id = ${id}`,
  );
  return row ?? null;
}

/** Every enumerated value in use, once. */
export async function readEnumValues(
  em: EntityManager,
  among: readonly Resource[],
): Promise<EnumEntry[]> {
  const parts = among.map(
    ({ table }) =>
      sql`select x.value::text as entry from ${sql.table(table)}, json_array_elements(enums) x`,
  );
  // Text: the type comes from a declaration.
  const rows = await rowsOf(
    em,
    sql<{ entry: string }>`select distinct entry collate "C" as entry
      from (${sql.join(parts, sql` union all `)}) all_entries order by 1`,
  );
  return rows.map(({ entry }) => JSON.parse(entry) as EnumEntry);
}
