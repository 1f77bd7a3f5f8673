import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { entityColumns, type EntityRow } from "./codex-read.ts";
import { preparedRowsOf } from "../prepared.ts";
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
/** A value that is a number; longer ones fit no stored one. */
export const numberValue = /^[+-]?\d{1,250}(?:\.\d{1,250})?(?:[eE][+-]?\d{1,3})?$/;
/** What of a stored text counts as a number. Bounded repetitions would make it many times slower. */
const numberPattern = String.raw`^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$`;
/** Longer texts would not fit the type. */
const maxNumberLength = 300;

/** Such a list looks into all documents of a type. */
export const hasDataFilter = ({ filters }: Pick<ListQuery, "filters">) =>
  filters.some(({ field }) => field === "data");

/**
 * Heads, with `x.v0`, `x.v1`... for what the filters on `data` ask of it, one after the other. Each use of the
 * column itself would unpack the document anew.
 */
function headsFor({ filters }: ListQuery): RawBuilder<unknown> {
  const paths = filters.filter(({ field }) => field === "data").map(({ path }) => path);
  if (paths.length === 0) return sql`codex_head h`;
  const values = sql.join(paths.map((path, n) => sql`${valueAt(path)} as ${sql.ref(`v${n}`)}`));
  const unpacked =
    paths.length === 1 ? sql`` : sql`from (select h.data || '{}'::jsonb as data offset 0) h`;
  return sql`codex_head h cross join lateral (select ${values} ${unpacked} offset 0) x`;
}

/** What `data` has at a path; one step into an object is cheaper than a walk. */
function valueAt(path: readonly string[]): RawBuilder<unknown> {
  const [only = "", ...rest] = path;
  return rest.length === 0 ? sql`h.data -> ${only}::text` : sql`h.data #> ${path}::text[]`;
}

function conditionsOf({ branchId, type, filters, words }: ListQuery): RawBuilder<unknown> {
  let numValues = 0;
  const conditions = [
    sql`h.branch_id = ${branchId}`,
    sql`h.type = ${type}`,
    ...filters.map((filter) =>
      conditionOf(filter, filter.field === "data" ? sql.ref(`x.v${numValues++}`) : null),
    ),
  ];
  // Words are letters and digits, so they need no escape inside the quotes.
  const query = words?.map((word) => `'${word}':*`).join(" & ");
  if (query === "") conditions.push(sql`false`);
  else if (query !== undefined) conditions.push(sql`h.search @@ ${query}::tsquery`);
  return sql.join(conditions, sql` and `);
}

/** A value out of `data` as JSON; null where the filter is on a column. */
type Value = RawBuilder<unknown> | null;

function conditionOf({ field, op, value }: ListFilter, found: Value): RawBuilder<unknown> {
  if (field === "tags") {
    const has = sql`h.tags @> array[${value}]::text[]`;
    return op === "eq" ? has : sql`not (${has})`;
  }
  const text = found === null ? sql.ref(`h.${field}`) : scalarText(found);
  if (op === "eq") return isEqual(found, text, value);
  if (op === "ne") return sql`(${isEqual(found, text, value)}) is not true`;
  const holds = sql`(${text})::numeric ${numericOps[op]} ${value}::numeric`;
  const ofText = sql`case when length(${text}) > ${maxNumberLength} then false
    when ${text} ~ ${numberPattern} then ${holds} else false end`;
  if (found === null) return ofText;
  return sql`case jsonb_typeof(${found})
    when 'number' then ${found}::numeric ${numericOps[op]} ${value}::numeric
    when 'string' then ${ofText} else false end`;
}

/** Equal as JSON text (COD-17); two numbers by value, since the store writes them in its own way. */
function isEqual(found: Value, text: RawBuilder<unknown>, value: string): RawBuilder<unknown> {
  const isText = sql`${text} = ${value}`;
  if (found === null || !numberValue.test(value)) return isText;
  return sql`case jsonb_typeof(${found})
    when 'number' then ${found}::numeric = ${value}::numeric else ${isText} end`;
}

/** JSON text of a scalar; null for what is absent, null, an object or a list. */
const scalarText = (found: RawBuilder<unknown>) =>
  sql`(case when jsonb_typeof(${found}) in ('object', 'array') then null else ${found} #>> '{}' end)`;

export interface ListPage {
  /** Of the game, at the same moment. */
  generation: number;
  /** How many entities fit, whatever the page; null when it was not asked for. */
  count: number | null;
  rows: EntityRow[];
}

interface PageInput {
  cursor: number;
  limit: number;
  isCounted: boolean;
}

/** Entities after the cursor, at most `limit`, in the order of their numbers. */
export async function listEntities(
  em: EntityManager,
  gameId: number,
  query: ListQuery,
  { cursor, limit, isCounted }: PageInput,
): Promise<ListPage> {
  const heads = headsFor(query);
  const fitting = conditionsOf(query);
  // A first page that is not full has them all, and nothing is looked through twice.
  const count = sql`case when ${cursor}::bigint = 0 and (select count(*) from page) < ${limit}
    then (select count(*)::int from page)
    else (select count(*)::int from ${heads} where ${fitting}) end`;
  // Side by side the planner would read all entities of a game for one page of them.
  const statement = sql<{ generation: number; count: number | null } & (EntityRow | { id: null })>`
    with page as materialized (
      select h.entity_id, h.document_id, h.patch_id from ${heads}
      where ${fitting} and h.entity_id > ${cursor}::bigint
      order by h.entity_id limit ${limit}
    )
    select g.generation, ${isCounted ? count : sql`null::int`} as count, x.*
    from codex_games g
    left join (
      select y.* from page h
      cross join lateral (
        select ${entityColumns} from codex_entities e, codex_documents d, codex_patches p
        where e.id = h.entity_id and d.id = h.document_id and p.id = h.patch_id limit 1
      ) y
    ) x on true
    where g.id = ${gameId} order by x.id`;
  const isPlain = query.filters.length === 0 && query.words === null;
  const rows = await (isPlain ? preparedRowsOf(em, statement) : rowsOf(em, statement));
  const [first] = rows;
  return {
    generation: first?.generation ?? -1,
    count: first?.count ?? null,
    rows: rows.filter((row) => row.id !== null),
  };
}
