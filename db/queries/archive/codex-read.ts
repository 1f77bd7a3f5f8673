import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { OrdRange } from "./codex-directory.ts";
import { isInState, type StateAt } from "./codex-states.ts";
import { preparedRowsOf } from "../../prepared.ts";
import { upstreamKeyOn } from "./codex-keys.ts";
import { anyOf, nullableMillis } from "../expressions.ts";
import { findRow, findRows, rowsOf, type Builder } from "../rows.ts";

/** An entity at some patch; `body` is the JSON text of the members that depend on its content. */
export interface EntityRow {
  /** Id of the entity, used as cursor of lists. */
  id: number;
  key: string;
  type: string;
  upstreamKey: string | null;
  patchId: number;
  version: string;
  versionRaw: string;
  body: string;
}

/** Statements over up to this many ranges are prepared; deeper branches are rare. */
const fewRanges = 3;
/** Generation of a game that does not exist. */
const noGeneration = -1;

export const entityColumns = (branchId: number) => sql`e.id, e.key, e.type,
  ${upstreamKeyOn(branchId)} as "upstreamKey",
  p.id as "patchId", p.version, p.version_raw as "versionRaw", d.body`;

/** Entities of a state, with the tables `entityColumns` reads. */
const entitiesIn = (state: StateAt) => sql`codex_entities e
  join codex_versions v on v.entity_id = e.id and ${isInState(state, "v")}
  join codex_documents d on d.id = v.document_id
  join codex_patches p on p.id = v.patch_id`;

/** The entities among the ids that exist in the state. */
export async function findEntities(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  keys: readonly string[],
): Promise<Map<string, EntityRow>> {
  if (keys.length === 0) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_entities as e")
      .innerJoin("codex_versions as v", (join) =>
        join.onRef("v.entity_id", "=", "e.id").on(isInState(state, "v")),
      )
      .innerJoin("codex_documents as d", "d.id", "v.document_id")
      .innerJoin("codex_patches as p", "p.id", "v.patch_id")
      .select([
        "e.id",
        "e.key",
        "e.type",
        upstreamKeyOn(state.branchId).as("upstreamKey"),
        "p.id as patchId",
        "p.version",
        "p.version_raw as versionRaw",
        "d.body",
      ])
      .where("e.game_id", "=", gameId)
      .where("e.key", "=", anyOf(keys, "text")),
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** An entity in a state, or null, with the generation of the game at the same moment. */
export async function findPresentEntity(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  key: string,
): Promise<{ generation: number; row: EntityRow | null }> {
  // Raw SQL: a lateral join to a state, from fragments shared with lists.
  const [found] = await preparedRowsOf(
    em,
    sql<{ generation: number } & (EntityRow | { id: null })>`
      select g.generation, x.*
      from codex_games g
      left join lateral (
        select ${entityColumns(state.branchId)}
        from ${entitiesIn(state)}
        where e.game_id = g.id and e.key = ${key}
      ) x on true
      where g.id = ${gameId}`,
  );
  if (found === undefined) return { generation: noGeneration, row: null };
  return { generation: found.generation, row: found.id === null ? null : found };
}

/**
 * The entity id for an upstream key in a state: an exact match first, else case-insensitive
 * (COD-16). Several entities may have had the key on other branches or patches. An entity that
 * exists in the state wins over one that existed earlier.
 */
export async function findByUpstreamKey(
  em: EntityManager,
  gameId: number,
  state: StateAt,
  upstreamKey: string,
): Promise<string | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("codex_upstream_keys as k")
      .innerJoin("codex_entities as e", "e.id", "k.entity_id")
      .leftJoin("codex_versions as v", (join) =>
        join.onRef("v.entity_id", "=", "e.id").on(isInState(state, "v")),
      )
      .select("e.key")
      .where("k.game_id", "=", gameId)
      .where(sql`lower(k.upstream_key)`, "=", sql`lower(${upstreamKey})`)
      .orderBy((eb) => eb("v.document_id", "is", null))
      .orderBy((eb) => eb("k.upstream_key", "<>", upstreamKey))
      .orderBy((eb) => eb("v.entity_id", "is", null))
      .orderBy((eb) => eb("k.upstream_key", "is distinct from", upstreamKeyOn(state.branchId)))
      .orderBy(sql`k.upstream_key collate "C"`)
      .orderBy("e.id", "desc")
      .limit(1),
  );
  return row?.key ?? null;
}

/** Names in one statement of `listUpstreamIds`. */
export const upstreamIdsPerPage = 10_000;

/**
 * Pairs of upstream key in lower case and entity id, for all of a game's current and former keys, read in pages.
 * Current keys on any branch win over former ones; among entities with the same key, existing ones win, and main
 * wins over other branches.
 */
export async function* listUpstreamIds(
  em: EntityManager,
  game: string,
): AsyncGenerator<{ name: string; key: string }> {
  let page: { name: string; key: string }[] = [];
  do {
    const after = page.at(-1)?.name ?? null;
    page = await findRows(em, (db) => upstreamIdsAfter(db, game, after));
    yield* page;
  } while (page.length === upstreamIdsPerPage);
}

function upstreamIdsAfter(db: Builder, game: string, after: string | null) {
  const name = sql<string>`lower(k.upstream_key)`;
  const page = db
    .selectFrom("codex_upstream_keys as k")
    .innerJoin("codex_entities as e", "e.id", "k.entity_id")
    .distinctOn(name)
    .select([name.as("name"), "e.key"])
    // A subquery, not a join: then a page is one range of the index on game and name.
    .where("k.game_id", "=", (eb) =>
      eb.selectFrom("codex_games").select("id").where("slug", "=", game),
    )
    .orderBy(name)
    .orderBy(isCurrentKey, (order) => order.desc().nullsLast())
    .orderBy(branchRank, (order) => order.desc().nullsLast())
    .orderBy("e.id")
    .limit(upstreamIdsPerPage);
  return after === null ? page : page.where(name, ">", after);
}

/** Whether `k` is the key of the entity `e` on a branch; without keys of branches, its first key. */
const isCurrentKey = sql`k.upstream_key = any(coalesce((
  select array_agg(n.upstream_key) from codex_branches b
  join codex_branch_keys n on n.branch_id = b.id and n.entity_id = e.id
  where b.game_id = k.game_id), array[e.upstream_key]))`;

/** 2 if the entity `e` exists on main, 1 on other branches only, else null. */
const branchRank = sql`(
  select max(case b.slug when 'main' then 2 else 1 end) from codex_branches b
  join codex_head h on h.branch_id = b.id and h.entity_id = e.id
  where b.game_id = k.game_id)`;

export interface HistoryRow {
  rowId: number;
  patchId: number;
  version: string;
  versionRaw: string;
  /** Milliseconds. */
  releasedAt: number | null;
  /** Null for a tombstone. */
  hash: string | null;
}

/** Every change of an entity along the ranges, oldest first, with the generation of the game. */
export async function listHistory(
  em: EntityManager,
  gameId: number,
  key: string,
  ranges: readonly OrdRange[],
): Promise<{ generation: number; history: HistoryRow[] }> {
  const along = ranges.map(
    ({ branchId, after, upTo }) =>
      sql`(v.branch_id = ${branchId} and v.from_ord > ${after} and v.from_ord <= ${upTo})`,
  );
  const query = sql<{ generation: number } & (HistoryRow | { rowId: null })>`
    select g.generation, x.*
    from codex_games g
    left join lateral (
      select v.row_id::float8 as "rowId", v.from_ord, p.id as "patchId", p.version,
        p.version_raw as "versionRaw",
        ${nullableMillis("p.released_at")} as "releasedAt", d.hash
      from codex_entities e
      join codex_versions v on v.entity_id = e.id and not v.is_inherited
      join codex_patches p on p.id = v.patch_id
      left join codex_documents d on d.id = v.document_id
      where e.game_id = g.id and e.key = ${key} and (${sql.join(along, sql` or `)})
    ) x on true
    where g.id = ${gameId} order by x.from_ord`;
  // Raw SQL: a lateral join over a variable number of ranges.
  const rows = await (along.length <= fewRanges ? preparedRowsOf(em, query) : rowsOf(em, query));
  return {
    generation: rows[0]?.generation ?? noGeneration,
    history: rows.filter((row) => row.rowId !== null),
  };
}

/** Type -> number of current entities, ordered by type. */
export function countTypes(
  em: EntityManager,
  branchId: number,
): Promise<{ type: string; count: number }[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("codex_head")
      .select((eb) => ["type", eb.fn.countAll<number>().as("count")])
      .where("branch_id", "=", branchId)
      .groupBy("type")
      .orderBy(sql`type collate "C"`),
  );
}

/** Languages that have texts in a state, ordered. */
export async function listLocales(em: EntityManager, state: StateAt): Promise<string[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_texts")
      .select("locale")
      .where(isInState(state, "codex_texts"))
      .orderBy(sql`locale collate "C"`),
  );
  return rows.map(({ locale }) => locale);
}

export async function readGameGeneration(em: EntityManager, gameId: number): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectFrom("codex_games").select("generation").where("id", "=", gameId),
  );
  return row?.generation ?? noGeneration;
}
