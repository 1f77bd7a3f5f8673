import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { entityColumns, type EntityRow } from "./codex-read.ts";
import { preparedRowsOf } from "../prepared.ts";
import { rowsOf } from "./rows.ts";

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
  cursor: number;
  limit: number;
  isCounted: boolean;
}

/** Entities after the cursor, at most `limit`, in the order of their numbers. */
export async function listEntities(
  em: EntityManager,
  { gameId, branchId, type }: TypeRef,
  { cursor, limit, isCounted }: PageInput,
): Promise<ListPage> {
  const all = sql`codex_head h where h.branch_id = ${branchId} and h.type = ${type}`;
  const page = sql`select h.entity_id, h.document_id, h.patch_id from ${all}
    and h.entity_id > ${cursor}::bigint order by h.entity_id limit ${limit}`;
  // A first page that is not full has them all.
  const count = sql`case when ${cursor}::bigint = 0 and (select count(*) from page) < ${limit}
    then (select count(*)::int from page) else (select count(*)::int from ${all}) end`;
  return readPage(em, { gameId, branchId }, page, isCounted ? count : sql`null::int`);
}

/** Those of the entities with these numbers that are present, in the order of their numbers. */
export async function readEntities(
  em: EntityManager,
  { gameId, branchId }: Omit<TypeRef, "type">,
  ids: readonly number[],
): Promise<ListPage> {
  const page = sql`select h.entity_id, h.document_id, h.patch_id from codex_head h
    where h.branch_id = ${branchId} and h.entity_id = any(${ids}::int[])`;
  return readPage(em, { gameId, branchId }, page, sql`null::int`);
}

async function readPage(
  em: EntityManager,
  { gameId, branchId }: Omit<TypeRef, "type">,
  page: RawBuilder<unknown>,
  count: RawBuilder<unknown>,
): Promise<ListPage> {
  // Side by side the planner would read all entities of a game for one page of them.
  const rows = await preparedRowsOf(
    em,
    sql<{ generation: number; count: number | null } & (EntityRow | { id: null })>`
      with page as materialized (${page})
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

/** Numbers of the entities that have a word with each of these beginnings, rising; null when there are too many. */
export async function searchEntities(
  em: EntityManager,
  { gameId, branchId, type }: TypeRef,
  words: readonly string[],
): Promise<{ generation: number; ids: Int32Array } | null> {
  // Words are letters and digits, so they need no escape inside the quotes.
  const query = words.map((word) => `'${word}':*`).join(" & ");
  const [found] = await rowsOf(
    em,
    sql<{ generation: number; ids: string | null }>`
      select g.generation, (
        select case when count(*) <= ${maxFound} then coalesce(string_agg(x.id::text, ' '), '') end from (
          select h.entity_id as id from codex_head h
          where h.branch_id = ${branchId} and h.type = ${type} and h.search @@ ${query}::tsquery
          limit ${maxFound + 1}
        ) x
      ) as ids
      from codex_games g where g.id = ${gameId}`,
  );
  if (found?.ids === null) return null;
  const ids = found === undefined || found.ids === "" ? [] : found.ids.split(" ");
  return { generation: found?.generation ?? -1, ids: Int32Array.from(ids, Number).sort() };
}
