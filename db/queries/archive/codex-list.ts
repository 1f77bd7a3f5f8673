import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { preparedRowsOf } from "../../prepared.ts";
import { fits, type ListFilter } from "./codex-filters.ts";
import { entityColumns, type EntityRow } from "./codex-read.ts";
import { rowsOf } from "../rows.ts";

/** Present entities of one type on one branch, and the game it is of. */
export interface TypeRef {
  gameId: number;
  branchId: number;
  type: string;
}

export interface ListPage {
  /** Of the game, at the same moment. */
  generation: number;
  /** How many entities there are, whatever the page; null when it was not asked for. */
  count: number | null;
  rows: EntityRow[];
}

interface PageInput {
  filters: readonly ListFilter[];
  cursor: number;
  limit: number;
  isCounted: boolean;
}

/** Entities that fit all filters, after the cursor, at most `limit`, in the order of their numbers. */
export async function listEntities(
  em: EntityManager,
  ref: TypeRef,
  { filters, cursor, limit, isCounted }: PageInput,
): Promise<ListPage> {
  const all = entitiesOf(ref, filters);
  // Looked through once when they are counted as well, else only as far as the page goes.
  const page = sql`with fitting as (select h.entity_id, h.document_id, h.patch_id from ${all}),
    page as materialized (select * from fitting h where h.entity_id > ${cursor}::bigint
      order by h.entity_id limit ${limit})`;
  const count = isCounted ? sql`(select count(*)::int from fitting)` : sql`null::int`;
  // Filters make too many statements to keep them prepared.
  const rowsBy = filters.length === 0 ? preparedRowsOf : rowsOf;
  return readPage(em, ref, page, count, rowsBy);
}

const entitiesOf = ({ branchId, type }: TypeRef, filters: readonly ListFilter[]) =>
  sql`codex_head h where ${sql.join(
    [sql`h.branch_id = ${branchId}`, sql`h.type = ${type}`, ...filters.map(fits)],
    sql` and `,
  )}`;

/** Those of the entities with these numbers that are present, in the order of their numbers. */
export async function readEntities(
  em: EntityManager,
  { gameId, branchId }: Omit<TypeRef, "type">,
  ids: readonly number[],
): Promise<ListPage> {
  const page = sql`with page as materialized (
    select h.entity_id, h.document_id, h.patch_id from codex_head h
    where h.branch_id = ${branchId} and h.entity_id = any(${ids}::int[]))`;
  return readPage(em, { gameId, branchId }, page, sql`null::int`);
}

async function readPage(
  em: EntityManager,
  { gameId, branchId }: Omit<TypeRef, "type">,
  page: RawBuilder<unknown>,
  count: RawBuilder<unknown>,
  rowsBy: typeof rowsOf = preparedRowsOf,
): Promise<ListPage> {
  // Side by side the planner would read all entities of a game for one page of them: 1.29x (0.94-1.46) of 1.1 ms
  // (`npm run bench -- database choices`).
  const rows = await rowsBy(
    em,
    sql<{ generation: number; count: number | null } & (EntityRow | { id: null })>`
      ${page}
      select g.generation, ${count} as count, x.*
      from codex_games g
      left join (
        select y.* from page h
        cross join lateral (
          select ${entityColumns(branchId)} from codex_entities e, codex_documents d, codex_patches p
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

/** A search that finds more says too little: their numbers alone would take too long. */
export const maxFound = 100_000;

/**
 * Numbers of the entities that fit all filters and have a word with each of these beginnings, rising; null when
 * there are too many.
 */
export async function searchEntities(
  em: EntityManager,
  ref: TypeRef,
  words: readonly string[],
  filters: readonly ListFilter[] = [],
): Promise<{ generation: number; ids: Int32Array } | null> {
  // Words are letters and digits, so they need no escape inside the quotes.
  const query = words.map((word) => `'${word}':*`).join(" & ");
  // Text: a match of words over a part that lists share, with its end in the count.
  const [found] = await rowsOf(
    em,
    sql<{ generation: number; ids: string | null }>`
      select g.generation, (
        select case when count(*) <= ${maxFound} then coalesce(string_agg(x.id::text, ' '), '') end from (
          select h.entity_id as id from ${entitiesOf(ref, filters)} and h.search @@ ${query}::tsquery
          limit ${maxFound + 1}
        ) x
      ) as ids
      from codex_games g where g.id = ${ref.gameId}`,
  );
  if (found?.ids === null) return null;
  const ids = found === undefined || found.ids === "" ? [] : found.ids.split(" ");
  return { generation: found?.generation ?? -1, ids: Int32Array.from(ids, Number).sort() };
}
