import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { entityColumns, type EntityRow } from "./codex-read.ts";
import { rowsOf } from "./rows.ts";

export type FilterOp = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/** One condition of a list; the path was checked, the value of a numeric operator is a number (COD-17). */
export interface ListFilter {
  field: "name" | "type" | "tags" | "data";
  /** Keys and indices below `data`; empty otherwise. */
  path: readonly string[];
  op: FilterOp;
  value: string;
}

export interface ListQuery {
  branchId: number;
  type: string;
  filters: readonly ListFilter[];
  /** Each is the beginning of a word that has to be there; null searches nothing, none finds nothing. */
  words: readonly string[] | null;
}

const numericOps = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const;
/** What of a stored text counts as a number. Bounded repetitions would make it many times slower. */
const numberPattern = String.raw`^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$`;
/** Longer texts would not fit the type. */
const maxNumberLength = 300;

function conditionsOf({ branchId, type, filters, words }: ListQuery): RawBuilder<unknown> {
  const conditions = [
    sql`h.branch_id = ${branchId}`,
    sql`h.type = ${type}`,
    ...filters.map(conditionOf),
  ];
  // Words are letters and digits, so they need no escape inside the quotes.
  const query = words?.map((word) => `'${word}':*`).join(" & ");
  if (query === "") conditions.push(sql`false`);
  else if (query !== undefined) conditions.push(sql`h.search @@ ${query}::tsquery`);
  return sql.join(conditions, sql` and `);
}

function conditionOf({ field, path, op, value }: ListFilter): RawBuilder<unknown> {
  if (field === "tags") {
    const has = sql`h.tags @> array[${value}]::text[]`;
    return op === "eq" ? has : sql`not (${has})`;
  }
  const text = textOf(field, path);
  if (op === "eq") return sql`${text} = ${value}`;
  if (op === "ne") return sql`${text} is distinct from ${value}`;
  const holds = sql`(${text})::numeric ${numericOps[op]} ${value}::numeric`;
  const ofText = sql`case when length(${text}) > ${maxNumberLength} then false
    when ${text} ~ ${numberPattern} then ${holds} else false end`;
  if (field !== "data") return ofText;
  return sql`case jsonb_typeof(h.data #> ${path}::text[])
    when 'number' then (h.data #> ${path}::text[])::numeric ${numericOps[op]} ${value}::numeric
    when 'string' then ${ofText} else false end`;
}

/** JSON text of a scalar; null for what is absent, null, an object or a list. */
function textOf(field: ListFilter["field"], path: readonly string[]): RawBuilder<unknown> {
  if (field === "name") return sql`h.name`;
  if (field === "type") return sql`h.type`;
  return sql`(case when jsonb_typeof(h.data #> ${path}::text[]) in ('object', 'array') then null
    else h.data #>> ${path}::text[] end)`;
}

/** Entities after the cursor, at most `limit`, in the order of their numbers. */
export function listEntities(
  em: EntityManager,
  query: ListQuery,
  page: { cursor: number; limit: number },
): Promise<EntityRow[]> {
  return rowsOf(
    em,
    sql<EntityRow>`
      select ${entityColumns}
      from (
        select h.entity_id, h.document_id, h.patch_id from codex_head h
        where ${conditionsOf(query)} and h.entity_id > ${page.cursor}::bigint
        order by h.entity_id limit ${page.limit}
      ) h
      join codex_entities e on e.id = h.entity_id
      join codex_documents d on d.id = h.document_id
      join codex_patches p on p.id = h.patch_id
      order by h.entity_id`,
  );
}

/** How many entities fit, whatever the page. */
export async function countEntities(em: EntityManager, query: ListQuery): Promise<number> {
  const [row] = await rowsOf(
    em,
    sql<{ count: number }>`select count(*)::int as count from codex_head h
      where ${conditionsOf(query)}`,
  );
  return row?.count ?? 0;
}
