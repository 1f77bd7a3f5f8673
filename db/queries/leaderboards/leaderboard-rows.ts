import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { prepared, preparedRowsOf } from "../../prepared.ts";
import { withinSearchTime } from "../../search-time.ts";
import { shownName } from "../expressions.ts";
import { rowsOf } from "../rows.ts";
import { foldForSearch } from "../../../server/platform/text/search-words.ts";

export type GlobalTabColumn = "score" | "accuracy" | "streak" | "xp";

/** Order of each tab (LB-01); matches the indexes of `player_stats`. */
const tabOrder: Readonly<Record<GlobalTabColumn, RawBuilder<unknown>>> = {
  score: sql`s.total_score desc, s.score_at, s.player_id`,
  xp: sql`s.total_xp desc, s.xp_at, s.player_id`,
  streak: sql`s.best_streak desc, s.streak_at, s.player_id`,
  accuracy: sql`round(100.0 * s.total_correct / s.total_answers) desc, s.total_answers desc, s.player_id`,
};

export interface PlayerLine {
  id: number;
  name: string;
  isGuest: boolean;
  avatarV: number;
  totalScore: number;
  totalXp: number;
  totalAnswers: number;
  /** Percent, rounded. */
  accuracy: number;
  bestStreak: number;
  /** Rank in the latest daily snapshot; null if the player is not in it (LB-02). */
  previousRank: number | null;
}

/** Lines of the global leaderboard for these players. */
export async function listPlayerLines(
  em: EntityManager,
  ids: readonly number[],
  tab: GlobalTabColumn,
): Promise<Map<number, PlayerLine>> {
  if (ids.length === 0) return new Map();
  // Raw SQL: a column named by the tab, from the latest day.
  const rows = await preparedRowsOf<PlayerLine>(
    em,
    sql`select s.player_id as id, ${shownName()} as name, p.is_guest as "isGuest",
        p.avatar_v as "avatarV", s.total_score::float8 as "totalScore", s.total_xp as "totalXp",
        s.total_answers as "totalAnswers", s.best_streak as "bestStreak",
        coalesce(round(100.0 * s.total_correct / nullif(s.total_answers, 0)), 0)::int as accuracy,
        (select r.${sql.ref(tab)} from rank_snapshots r where r.player_id = s.player_id
          and r.day = (select max(day) from rank_snapshot_days)) as "previousRank"
      from player_stats s
      join players p on p.id = s.player_id
      where s.player_id = any(${[...ids]}::int[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** LIKE pattern for names that contain `search`; `%` and `_` match literally (LB-04). */
export function containing(search: string): string {
  return `%${foldForSearch(search).replace(/[\\%_]/g, "\\$&")}%`;
}

export interface Found {
  ids: number[];
  total: number;
}

/** A search with more matches on a leaderboard is refused as too unspecific. */
export const maxMatches = 1_000;
/** Maximum number of matching names to examine, including players who are not on the leaderboard. */
export const maxNames = 2_000;

/** Players whose name contains the text. Evaluated first, and stops early if there are too many. */
const namedPlayers = (search: string) => sql`select p.id from players p
  where p.name_key like ${containing(search)} and p.deleted_at is null limit ${maxNames + 1}`;

/**
 * Null if there are too many matches or the search times out. `matching` reads from `named`, `ordered` from
 * `found`.
 */
async function findWithin(
  em: EntityManager,
  { search, limit, offset }: { search: string; limit: number; offset: number },
  { matching, ordered }: { matching: RawBuilder<unknown>; ordered: RawBuilder<unknown> },
): Promise<Found | null> {
  // Raw SQL: bounds on the rows examined, from fragments the leaderboards share.
  const rows = await withinSearchTime(em, (tx) =>
    rowsOf<{ ids: number[] | null; total: number }>(
      tx,
      sql`with named as materialized (${namedPlayers(search)}),
          found as materialized (${matching} limit ${maxMatches + 1}),
          counted as materialized (select (select count(*) from named) <= ${maxNames}
            and (select count(*) from found) <= ${maxMatches} as is_few)
        select (select count(*)::float8 from found) as total, case when is_few
            then array(select s.id from (${ordered}) s limit ${limit} offset ${offset}) end as ids
        from counted`,
    ),
  );
  const [found] = rows ?? [];
  return found === undefined || found.ids === null ? null : { ids: found.ids, total: found.total };
}

/** Players on the leaderboard whose name contains a text, in tab order; null if there are too many. */
export function searchPlayers(
  em: EntityManager,
  search: string,
  { tab, ...page }: { tab: GlobalTabColumn; limit: number; offset: number },
): Promise<Found | null> {
  const matching = sql`select s.player_id as id
    from named join player_stats s on s.player_id = named.id where s.total_answers > 0`;
  const ordered = sql`select s.player_id as id from player_stats s
    where s.player_id in (select id from found) order by ${tabOrder[tab]}`;
  return findWithin(em, { search, ...page }, { matching, ordered });
}

export interface RunLine {
  id: number;
  name: string;
  numCorrect: number;
  bestStreak: number;
  totalTimeMs: number;
}

const findRunLines = prepared(
  (db, { challengeId, playerIds }: { challengeId: number; playerIds: number[] }) =>
    db
      .selectFrom("runs as r")
      .innerJoin("players as p", "p.id", "r.player_id")
      .select([
        "r.player_id as id",
        shownName().as("name"),
        "r.num_correct as numCorrect",
        "r.best_streak as bestStreak",
        "r.total_time_ms as totalTimeMs",
      ])
      .where("r.challenge_id", "=", challengeId)
      .where("r.is_finished", "=", sql.lit(true))
      .where("r.player_id", "=", sql<number>`any(${playerIds}::int[])`),
);

/** Lines of a challenge's leaderboard for these players. */
export async function listRunLines(
  em: EntityManager,
  challengeId: number,
  playerIds: readonly number[],
): Promise<Map<number, RunLine>> {
  if (playerIds.length === 0) return new Map();
  const rows = await findRunLines(em, { challengeId, playerIds: [...playerIds] });
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Players with a finished run whose name contains a text, in leaderboard order (LB-03); null if there are
 * too many.
 */
export function searchRuns(
  em: EntityManager,
  search: string,
  { challengeId, ...page }: { challengeId: number; limit: number; offset: number },
): Promise<Found | null> {
  const matching = sql`select r.id from named join runs r on r.player_id = named.id
    where r.challenge_id = ${challengeId} and r.is_finished`;
  const ordered = sql`select r.player_id as id from runs r where r.id in (select id from found)
    order by r.score desc, r.total_time_ms, r.finished_at, r.player_id`;
  return findWithin(em, { search, ...page }, { matching, ordered });
}

const findTeamNames = prepared((db, { ids }: { ids: number[] }) =>
  db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("id", "=", sql<number>`any(${ids}::int[])`),
);

/** Names of these teams. */
export async function listTeamNames(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await findTeamNames(em, { ids: [...ids] });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
