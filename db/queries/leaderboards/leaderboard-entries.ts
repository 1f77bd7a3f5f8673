import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Change } from "./leaderboard-changes.ts";
import { prepared, preparedRowsOf } from "../../prepared.ts";
import { anyOf, millis } from "../expressions.ts";
import { findRows, rowsOf } from "../rows.ts";

/** Which entries to read: those with these ids, or the next batch in order of id. */
export type Slice = { ids: readonly number[] } | { after: number; limit: number };

/** Microseconds since the epoch: ties are decided at the resolution of the stored times. */
const micros = (time: RawBuilder<unknown>) => sql`(extract(epoch from ${time}) * 1000000)::float8`;
const percent = (correct: RawBuilder<unknown>, answers: RawBuilder<unknown>) =>
  sql`coalesce(round(100.0 * ${correct} / nullif(${answers}, 0)), 0)::int`;

function within(slice: Slice, id: RawBuilder<unknown>): RawBuilder<unknown> {
  return "ids" in slice ? sql`${id} = any(${[...slice.ids]}::int[])` : sql`${id} > ${slice.after}`;
}
const inOrder = (slice: Slice, id: RawBuilder<unknown>) =>
  "ids" in slice ? sql`` : sql`order by ${id} limit ${slice.limit}`;

/** Totals, and when each was reached, in microseconds since the epoch. */
export interface TotalsRow {
  id: number;
  score: number;
  scoreAt: number;
  xp: number;
  xpAt: number;
  streak: number;
  streakAt: number;
  /** Percent, rounded. */
  accuracy: number;
  answers: number;
}

/** Columns of a `TotalsRow` of `player_stats s`. */
const totalsColumns = sql`s.player_id as id, s.total_score::float8 as score,
  s.total_xp as xp, s.best_streak as streak, s.total_answers as answers,
  ${percent(sql`s.total_correct`, sql`s.total_answers`)} as accuracy,
  ${micros(sql`s.score_at`)} as "scoreAt", ${micros(sql`s.xp_at`)} as "xpAt",
  ${micros(sql`s.streak_at`)} as "streakAt"`;

/** Players with at least one recorded answer (LB-01). */
export async function listPlayerTotals(em: EntityManager, slice: Slice): Promise<TotalsRow[]> {
  const id = sql`s.player_id`;
  // Raw SQL: microsecond times and percentages from fragments that four lists share.
  return preparedRowsOf(
    em,
    sql<TotalsRow>`select ${totalsColumns} from player_stats s
      where s.total_answers > 0 and ${within(slice, id)} ${inOrder(slice, id)}`,
  );
}

/**
 * Every team with the totals of its current members (LB-06). The time of a value is that of the answer or
 * the join that completed it.
 */
export async function listTeamTotals(em: EntityManager, slice: Slice): Promise<TotalsRow[]> {
  const id = sql`t.id`;
  const since = (time: RawBuilder<unknown>) => sql`greatest(${time}, m.joined_at)`;
  // Raw SQL: ordered aggregates with filters.
  return preparedRowsOf(
    em,
    sql<TotalsRow>`with chosen as (
        select t.id, t.created_at from teams t where ${within(slice, id)} ${inOrder(slice, id)}
      )
      select t.id, coalesce(sum(s.total_score), 0)::float8 as score, 0 as xp, 0 as "xpAt",
        coalesce(max(s.best_streak), 0) as streak, coalesce(sum(s.total_answers), 0)::float8 as answers,
        ${percent(sql`sum(s.total_correct)`, sql`sum(s.total_answers)`)} as accuracy,
        ${micros(sql`coalesce(max(${since(sql`s.score_at`)}) filter (where s.total_score > 0),
          t.created_at)`)} as "scoreAt",
        ${micros(sql`coalesce((array_agg(${since(sql`s.streak_at`)}
          order by s.best_streak desc, ${since(sql`s.streak_at`)}) filter (where s.player_id is not null))[1],
          t.created_at)`)} as "streakAt"
      from chosen t
      left join team_members m on m.team_id = t.id
      left join player_stats s on s.player_id = m.player_id and s.total_answers > 0
      group by t.id, t.created_at order by t.id`,
  );
}

export interface RunRow {
  /** Player id. */
  id: number;
  score: number;
  timeMs: number;
  /** Microseconds since the epoch. */
  finishedAt: number;
}

/** Finished runs of a challenge (LB-03). */
export async function listChallengeRuns(
  em: EntityManager,
  challengeId: number,
  slice: Slice,
): Promise<RunRow[]> {
  const id = sql`r.player_id`;
  // Raw SQL: microsecond times and percentages from fragments that four lists share.
  return preparedRowsOf(
    em,
    sql<RunRow>`select r.player_id as id, r.score, r.total_time_ms as "timeMs",
        ${micros(sql`r.finished_at`)} as "finishedAt"
      from runs r where r.challenge_id = ${challengeId} and r.is_finished
        and ${within(slice, id)} ${inOrder(slice, id)}`,
  );
}

/** Which results a word-game leaderboard contains (WG-03). */
export type WordWindow =
  | { mode: "daily"; from: string | null; to: string | null }
  /** Milliseconds since the epoch; 0 = all. */
  | { mode: "random"; since: number };

export interface WordRow {
  /** Player id. */
  id: number;
  resultId: number;
  score: number;
  level: number;
  timeCs: number;
  /** Microseconds since the epoch. */
  createdAt: number;
}

/** Each player's best result in the window (WG-02). */
export async function listWordBests(
  em: EntityManager,
  window: WordWindow,
  slice: Slice,
): Promise<WordRow[]> {
  const id = sql`w.player_id`;
  // Raw SQL: the first row per player by five columns.
  return rowsOf(
    em,
    sql<WordRow>`select distinct on (w.player_id) w.player_id as id, w.id as "resultId", w.score,
        w.level, w.time_cs as "timeCs", ${micros(sql`w.created_at`)} as "createdAt"
      from word_results w
      where ${inWindow(window)} and ${within(slice, id)}
      order by w.player_id, w.score desc, w.level desc, w.time_cs, w.created_at, w.id
      ${"ids" in slice ? sql`` : sql`limit ${slice.limit}`}`,
  );
}

function inWindow(window: WordWindow): RawBuilder<unknown> {
  if (window.mode === "random")
    return window.since === 0
      ? sql`w.mode = 'random'`
      : sql`w.mode = 'random' and w.created_at >= ${new Date(window.since)}`;
  const from = window.from === null ? sql`` : sql`and w.date >= ${window.from}::date`;
  const to = window.to === null ? sql`` : sql`and w.date <= ${window.to}::date`;
  return sql`w.mode = 'daily' ${from} ${to}`;
}

/** The entries a change affects; for a word result also its time. */
export type Touched =
  | { kind: "player" | "team"; id: number }
  | { kind: "run"; challengeId: number; playerId: number }
  | { kind: "word"; playerId: number; mode: "daily"; date: string }
  | { kind: "word"; playerId: number; mode: "random"; createdAtMs: number };

const idsOf = (changes: readonly Change[], kind: Change["kind"]) =>
  changes.filter((change) => change.kind === kind).map((change) => change.subjectId);

/**
 * Resolves changes to the affected entries: runs and results from their rows, and with `andTeams` also the
 * players' teams.
 */
export async function resolveChanges(
  em: EntityManager,
  changes: readonly Change[],
  { andTeams }: { andTeams: boolean },
): Promise<Touched[]> {
  const [players, teams, runs, words] = (["player", "team", "run", "word"] as const).map((kind) =>
    idsOf(changes, kind),
  ) as [number[], number[], number[], number[]];
  const touched: Touched[] = [
    ...players.map((id) => ({ kind: "player" as const, id })),
    ...teams.map((id) => ({ kind: "team" as const, id })),
  ];
  if (andTeams && players.length > 0) {
    const rows = await findTeams(em, { players });
    touched.push(...rows.map(({ id }) => ({ kind: "team" as const, id })));
  }
  if (runs.length > 0) touched.push(...(await resolveRuns(em, runs)));
  if (words.length > 0) touched.push(...(await resolveWords(em, words)));
  return touched;
}

const findTeams = prepared((db, { players }: { players: number[] }) =>
  db
    .selectFrom("team_members")
    .select("team_id as id")
    .distinct()
    .where("player_id", "=", sql<number>`any(${players}::int[])`),
);

async function resolveRuns(em: EntityManager, ids: number[]): Promise<Touched[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("runs")
      .select(["challenge_id as challengeId", "player_id as playerId"])
      .where("id", "=", anyOf(ids, "int"))
      .where("challenge_id", "is not", null)
      .$narrowType<{ challengeId: number }>(),
  );
  return rows.map((row) => ({ kind: "run", ...row }));
}

async function resolveWords(em: EntityManager, ids: number[]): Promise<Touched[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("word_results")
      .select(["player_id as playerId", "date", millis("created_at").as("createdAtMs")])
      .where("id", "=", anyOf(ids, "int")),
  );
  return rows.map(({ playerId, date, createdAtMs }) =>
    date === null
      ? { kind: "word", playerId, mode: "random", createdAtMs }
      : { kind: "word", playerId, mode: "daily", date },
  );
}
