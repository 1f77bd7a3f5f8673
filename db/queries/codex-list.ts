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
/** A value that is a number; longer ones fit no stored one. */
export const numberValue = /^[+-]?\d{1,250}(?:\.\d{1,250})?(?:[eE][+-]?\d{1,3})?$/;
/** What of a stored text counts as a number. Bounded repetitions would make it many times slower. */
const numberPattern = String.raw`^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$`;
/** Longer texts would not fit the type. */
const maxNumberLength = 300;

/** With the wait for a connection it fits into the time a request has. */
const filterTimeoutMs = 5_000;

/** Such a list looks into all documents of a type. */
export const hasDataFilter = ({ filters }: Pick<ListQuery, "filters">) =>
  filters.some(({ field }) => field === "data");

/** Heads, with `data` for the filters on it: each use of the column itself would unpack the document anew. */
const headsFor = (query: ListQuery) =>
  hasDataFilter(query)
    ? sql`codex_head h cross join lateral (select h.data || '{}'::jsonb as data offset 0) x`
    : sql`codex_head h`;

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
  if (op === "eq") return isEqual(field, path, value);
  if (op === "ne") return sql`(${isEqual(field, path, value)}) is not true`;
  const text = textOf(field, path);
  const holds = sql`(${text})::numeric ${numericOps[op]} ${value}::numeric`;
  const ofText = sql`case when length(${text}) > ${maxNumberLength} then false
    when ${text} ~ ${numberPattern} then ${holds} else false end`;
  if (field !== "data") return ofText;
  return sql`case jsonb_typeof(${valueOf(path)})
    when 'number' then ${valueOf(path)}::numeric ${numericOps[op]} ${value}::numeric
    when 'string' then ${ofText} else false end`;
}

/** Equal as JSON text (COD-17); two numbers by value, since the store writes them in its own way. */
function isEqual(
  field: ListFilter["field"],
  path: readonly string[],
  value: string,
): RawBuilder<unknown> {
  const isText = sql`${textOf(field, path)} = ${value}`;
  if (field !== "data" || !numberValue.test(value)) return isText;
  return sql`case jsonb_typeof(${valueOf(path)})
    when 'number' then ${valueOf(path)}::numeric = ${value}::numeric else ${isText} end`;
}

/** What `data` has at a path, as JSON or as text; one step into an object is cheaper than a walk. */
function valueOf(path: readonly string[], isText = false): RawBuilder<unknown> {
  const [only = "", ...rest] = path;
  if (rest.length === 0) return sql`(x.data ${isText ? sql`->>` : sql`->`} ${only}::text)`;
  return sql`(x.data ${isText ? sql`#>>` : sql`#>`} ${path}::text[])`;
}

/** JSON text of a scalar; null for what is absent, null, an object or a list. */
function textOf(field: ListFilter["field"], path: readonly string[]): RawBuilder<unknown> {
  if (field === "name") return sql`h.name`;
  if (field === "type") return sql`h.type`;
  return sql`(case when jsonb_typeof(${valueOf(path)}) in ('object', 'array') then null
    else ${valueOf(path, true)} end)`;
}

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
  page: PageInput,
): Promise<ListPage> {
  if (!hasDataFilter(query)) return readPage(em, gameId, query, page);
  return em.transactional(
    async (tx) => {
      await rowsOf(
        tx,
        sql`select set_config('statement_timeout', ${String(filterTimeoutMs)}, true)`,
      );
      return readPage(tx, gameId, query, page);
    },
    { readOnly: true },
  );
}

async function readPage(
  em: EntityManager,
  gameId: number,
  query: ListQuery,
  page: PageInput,
): Promise<ListPage> {
  const count = page.isCounted ? sql`(select count(*)::int from fitting)` : sql`null::int`;
  // Documents are looked through once for both; without a look into them each has an index.
  const isShared = page.isCounted && hasDataFilter(query);
  // Side by side the planner would read all entities of a game for one page of them.
  const rows = await rowsOf(
    em,
    sql<{ generation: number; count: number | null } & (EntityRow | { id: null })>`
      with fitting as ${isShared ? sql`materialized` : sql`not materialized`} (
        select h.entity_id, h.document_id, h.patch_id from ${headsFor(query)}
        where ${conditionsOf(query)}
      )
      select g.generation, ${count} as count, x.*
      from codex_games g
      left join (
        select y.* from (
          select * from fitting where entity_id > ${page.cursor}::bigint
          order by entity_id limit ${page.limit}
        ) h
        cross join lateral (
          select ${entityColumns} from codex_entities e, codex_documents d, codex_patches p
          where e.id = h.entity_id and d.id = h.document_id and p.id = h.patch_id limit 1
        ) y
      ) x on true
      where g.id = ${gameId} order by x.id`,
  );
  const [first] = rows;
  return {
    generation: first?.generation ?? -1,
    count: first?.count ?? null,
    rows: rows.filter((row) => row.id !== null),
  };
}
