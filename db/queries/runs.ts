import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Run } from "../entities/run.ts";
import { questionColumns, type QuestionRow } from "./questions.ts";
import { rowsOf } from "./rows.ts";

export type RunMode = Run["mode"];

export interface RunRow {
  id: number;
  playerId: number;
  mode: RunMode;
  challengeId: number | null;
  category: string | null;
  score: number;
  streak: number;
  bestStreak: number;
  numCorrect: number;
  currentIndex: number;
  totalTimeMs: number;
  questionIds: number[];
  isAnswered: boolean;
  shownAtMs: number;
  touchedAtMs: number;
  isFinished: boolean;
  createdAtMs: number;
  finishedAtMs: number | null;
}

const ms = (column: string) => sql.raw(`(extract(epoch from ${column}) * 1000)::float8`);
const columns = sql`id, player_id as "playerId", mode, challenge_id as "challengeId", category, score,
  streak, best_streak as "bestStreak", num_correct as "numCorrect", current_index as "currentIndex",
  total_time_ms as "totalTimeMs", question_ids as "questionIds", is_answered as "isAnswered",
  ${ms("shown_at")} as "shownAtMs", ${ms("touched_at")} as "touchedAtMs", is_finished as "isFinished",
  ${ms("created_at")} as "createdAtMs", ${ms("finished_at")} as "finishedAtMs"`;

/** A player's own run; those of others do not exist for them (RUN-04). */
export async function findRun(
  em: EntityManager,
  { id, playerId }: { id: number; playerId: number },
): Promise<RunRow | null> {
  const rows = await rowsOf<RunRow>(
    em,
    sql`select ${columns} from runs where id = ${id} and player_id = ${playerId}`,
  );
  return rows[0] ?? null;
}

/** The same, with nobody else changing it until the transaction ends. */
export async function lockRun(em: EntityManager, id: number): Promise<RunRow | null> {
  const rows = await rowsOf<RunRow>(
    em,
    sql`select ${columns} from runs where id = ${id} for update`,
  );
  return rows[0] ?? null;
}

/** A player's runs of these challenges. */
export async function listChallengeRunsOf(
  em: EntityManager,
  playerId: number,
  challengeIds: readonly number[],
): Promise<RunRow[]> {
  return rowsOf(
    em,
    sql`select ${columns} from runs
      where player_id = ${playerId} and challenge_id = any(${[...challengeIds]}::int[])`,
  );
}

export interface NewRun {
  playerId: number;
  mode: RunMode;
  challengeId: number | null;
  category: string | null;
  questionIds: readonly number[];
  at: Date;
}

/**
 * Null when the player has a run of this challenge, or another open endless one, already, and when
 * there is no such player.
 */
export async function insertRun(em: EntityManager, run: NewRun): Promise<RunRow | null> {
  const rows = await rowsOf<RunRow>(
    em,
    sql`insert into runs (player_id, mode, challenge_id, category, question_ids, shown_at, touched_at,
        created_at)
      select id, ${run.mode}, ${run.challengeId}::int, ${run.category}, ${[...run.questionIds]}::int[],
        ${run.at}::timestamptz, ${run.at}::timestamptz, ${run.at}::timestamptz
      from players where id = ${run.playerId}
      on conflict do nothing returning ${columns}`,
  );
  return rows[0] ?? null;
}

/** Runs of one player begin one after another from here on; false when there is no such player. */
export async function lockPlayer(em: EntityManager, playerId: number): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select id from players where id = ${playerId} for no key update`,
  );
  return rows.length > 0;
}

/** A new endless run ends the one before (RUN-03). */
export async function endEndlessRun(em: EntityManager, playerId: number, at: Date): Promise<void> {
  await rowsOf(
    em,
    sql`update runs set is_finished = true, finished_at = ${at}
      where player_id = ${playerId} and mode = 'endless' and not is_finished`,
  );
}

export async function endRun(em: EntityManager, id: number, at: Date): Promise<void> {
  await rowsOf(
    em,
    sql`update runs set is_finished = true, finished_at = ${at} where id = ${id} and not is_finished`,
  );
}

/** Ends endless runs nobody has answered in since then (RUN-03). Returns how many. */
export async function endStaleRuns(
  em: EntityManager,
  { before, now, limit }: { before: Date; now: Date; limit: number },
): Promise<number> {
  const rows = await rowsOf(
    em,
    sql`update runs set is_finished = true, finished_at = ${now} where id in (
        select id from runs where mode = 'endless' and not is_finished and touched_at < ${before}
        order by touched_at limit ${limit} for update skip locked
      ) returning id`,
  );
  return rows.length;
}

/** Where a run stands after an answer or an advance. */
export type Progress = Pick<
  RunRow,
  | "score"
  | "streak"
  | "bestStreak"
  | "numCorrect"
  | "currentIndex"
  | "totalTimeMs"
  | "questionIds"
  | "isAnswered"
  | "shownAtMs"
  | "touchedAtMs"
  | "isFinished"
  | "finishedAtMs"
>;

export async function saveProgress(em: EntityManager, id: number, run: Progress): Promise<void> {
  const finishedAt = run.finishedAtMs === null ? null : new Date(run.finishedAtMs);
  await rowsOf(
    em,
    sql`update runs set score = ${run.score}, streak = ${run.streak}, best_streak = ${run.bestStreak},
        num_correct = ${run.numCorrect}, current_index = ${run.currentIndex},
        total_time_ms = ${run.totalTimeMs}, question_ids = ${run.questionIds}::int[],
        is_answered = ${run.isAnswered}, shown_at = ${new Date(run.shownAtMs)},
        touched_at = ${new Date(run.touchedAtMs)}, is_finished = ${run.isFinished},
        finished_at = ${finishedAt}
      where id = ${id}`,
  );
}

/** Questions by their ids, whatever their pool. */
export async function listQuestions(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, QuestionRow>> {
  const rows = await rowsOf<QuestionRow>(
    em,
    sql`select ${questionColumns} from questions q where q.id = any(${[...ids]}::int[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
