import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Run } from "../../entities/run.ts";
import { questionColumns, type QuestionRow } from "../questions/questions.ts";
import { anyOf, millis, nullableMillis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

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

const columns = [
  "id",
  "player_id as playerId",
  "mode",
  "challenge_id as challengeId",
  "category",
  "score",
  "streak",
  "best_streak as bestStreak",
  "num_correct as numCorrect",
  "current_index as currentIndex",
  "total_time_ms as totalTimeMs",
  "question_ids as questionIds",
  "is_answered as isAnswered",
  millis("shown_at").as("shownAtMs"),
  millis("touched_at").as("touchedAtMs"),
  "is_finished as isFinished",
  millis("created_at").as("createdAtMs"),
  nullableMillis("finished_at").as("finishedAtMs"),
] as const;

/** The player's run with this id; runs of other players are not found (RUN-04). */
export function findRun(
  em: EntityManager,
  { id, playerId }: { id: number; playerId: number },
): Promise<RunRow | null> {
  return findRow(em, (db) =>
    db.selectFrom("runs").select(columns).where("id", "=", id).where("player_id", "=", playerId),
  );
}

/** Like `findRun`, but locked until the transaction ends. */
export function lockRun(em: EntityManager, id: number): Promise<RunRow | null> {
  return findRow(em, (db) =>
    db.selectFrom("runs").select(columns).where("id", "=", id).forUpdate(),
  );
}

/** A player's runs of these challenges. */
export function listChallengeRunsOf(
  em: EntityManager,
  playerId: number,
  challengeIds: readonly number[],
): Promise<RunRow[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("runs")
      .select(columns)
      .where("player_id", "=", playerId)
      .where("challenge_id", "=", anyOf(challengeIds, "int")),
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
 * Null if the player already has a run of this challenge or another open endless one, or if there is no
 * such player.
 */
export function insertRun(em: EntityManager, run: NewRun): Promise<RunRow | null> {
  const at = sql<Date>`${run.at}::timestamptz`;
  return findRow(em, (db) =>
    db
      .insertInto("runs")
      .columns([
        "player_id",
        "mode",
        "challenge_id",
        "category",
        "question_ids",
        "shown_at",
        "touched_at",
        "created_at",
      ])
      .expression(
        db
          .selectFrom("players")
          .select((eb) => [
            "id",
            eb.val(run.mode).as("mode"),
            sql<number | null>`${run.challengeId}::int`.as("challenge_id"),
            eb.val(run.category).as("category"),
            sql<number[]>`${[...run.questionIds]}::int[]`.as("question_ids"),
            at.as("shown_at"),
            at.as("touched_at"),
            at.as("created_at"),
          ])
          .where("id", "=", run.playerId),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning(columns),
  );
}

/** Ends the player's open endless run, because a new one replaces it (RUN-03). */
export async function endEndlessRun(em: EntityManager, playerId: number, at: Date): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("runs")
      .set({ is_finished: true, finished_at: at })
      .where("player_id", "=", playerId)
      .where("mode", "=", sql.lit("endless"))
      .where(({ not }) => not("is_finished")),
  );
}

export async function endRun(em: EntityManager, id: number, at: Date): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("runs")
      .set({ is_finished: true, finished_at: at })
      .where("id", "=", id)
      .where(({ not }) => not("is_finished")),
  );
}

/** Ends endless runs that have had no answer since then (RUN-03). Returns their number. */
export function endStaleRuns(
  em: EntityManager,
  { before, now, limit }: { before: Date; now: Date; limit: number },
): Promise<number> {
  return changeRows(em, (db) =>
    db
      .updateTable("runs")
      .set({ is_finished: true, finished_at: now })
      .where("id", "in", (eb) =>
        eb
          .selectFrom("runs")
          .select("id")
          .where("mode", "=", sql.lit("endless"))
          .where(({ not }) => not("is_finished"))
          .where("touched_at", "<", before)
          .orderBy("touched_at")
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      ),
  );
}

/** State of a run after an answer or an advance. */
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
  await changeRows(em, (db) =>
    db
      .updateTable("runs")
      .set({
        score: run.score,
        streak: run.streak,
        best_streak: run.bestStreak,
        num_correct: run.numCorrect,
        current_index: run.currentIndex,
        total_time_ms: run.totalTimeMs,
        question_ids: run.questionIds,
        is_answered: run.isAnswered,
        shown_at: new Date(run.shownAtMs),
        touched_at: new Date(run.touchedAtMs),
        is_finished: run.isFinished,
        finished_at: run.finishedAtMs === null ? null : new Date(run.finishedAtMs),
      })
      .where("id", "=", id),
  );
}

/** Questions by id, from any pool. */
export async function listQuestions(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, QuestionRow>> {
  const rows = await findRows(em, (db) =>
    db.selectFrom("questions as q").select(questionColumns).where("q.id", "=", anyOf(ids, "int")),
  );
  return new Map(rows.map((row) => [row.id, row]));
}
