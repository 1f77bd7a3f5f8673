import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import type { QueryWord } from "../../../server/platform/text/search-words.ts";
import { preparedRowsOf } from "../../prepared.ts";
import { fits, type ListFilter } from "./codex-filters.ts";
import { entityColumns, type EntityRow } from "./codex-read.ts";
import { rowsOf } from "../rows.ts";

/** Current entities of one type on one branch of a game. */
export interface TypeRef {
  gameId: number;
  branchId: number;
  type: string;
}

export interface ListPage {
  /** Generation of the game, as of the same moment. */
  generation: number;
  /** Total number of entities across all pages; null unless requested. */
  count: number | null;
  rows: EntityRow[];
}

interface PageInput {
  filters: readonly ListFilter[];
  cursor: number;
  limit: number;
  isCounted: boolean;
}

/** Up to `limit` entities that match all filters, after the cursor, ordered by id. */
export async function listEntities(
  em: EntityManager,
  ref: TypeRef,
  { filters, cursor, limit, isCounted }: PageInput,
): Promise<ListPage> {
  const all = entitiesOf(ref, filters);
  // A count scans all matches; without one the scan stops at the end of the page.
  const page = sql`with fitting as (select h.entity_id, h.document_id, h.patch_id from ${all}),
    page as materialized (select * from fitting h where h.entity_id > ${cursor}::bigint
      order by h.entity_id limit ${limit})`;
  const count = isCounted ? sql`(select count(*)::int from fitting)` : sql`null::int`;
  // Filters produce too many different statements to prepare them all.
  const rowsBy = filters.length === 0 ? preparedRowsOf : rowsOf;
  return readPage(em, ref, page, count, rowsBy);
}

const entitiesOf = ({ branchId, type }: TypeRef, filters: readonly ListFilter[]) =>
  sql`codex_head h where ${sql.join(
    [sql`h.branch_id = ${branchId}`, sql`h.type = ${type}`, ...filters.map(fits)],
    sql` and `,
  )}`;

/** The current entities among these ids, ordered by id. */
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
  // A plain join would make the planner read all entities of a game for one page: 1.20x (1.03-1.46)
  // of 1.1 ms (`bench -- database choices` of 2188df49).
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

/** A search with more matches is refused: reading their ids alone would take too long. */
export const maxFound = 100_000;

/**
 * Ascending ids of the entities that match all filters and have, for each word of the query, a word
 * that begins with it; null if there are too many.
 */
export async function searchEntities(
  em: EntityManager,
  ref: TypeRef,
  words: readonly QueryWord[],
  filters: readonly ListFilter[] = [],
): Promise<{ generation: number; ids: Int32Array } | null> {
  // Words contain only letters and digits, so they need no escape inside the quotes.
  const allOf = (prefixes: readonly string[]) => prefixes.map((one) => `'${one}':*`).join(" & ");
  const query = words
    .map((one) => (typeof one === "string" ? [one] : one))
    .map((one) => ("whole" in one ? `(${allOf(one.whole)} | ${allOf(one.parts)})` : allOf(one)))
    .join(" & ");
  // Raw SQL: a text search over a fragment shared by all lists, which stops once the count exceeds
  // the limit.
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
