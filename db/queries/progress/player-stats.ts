import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { prepared, preparedRowsOf } from "../../prepared.ts";
import { anyOf } from "../expressions.ts";
import { changeRows } from "../rows.ts";

export interface StatsTotals {
  score: number;
  answers: number;
  correct: number;
  bestStreak: number;
  currentStreak: number;
  xp: number;
}

export interface StatsRow extends StatsTotals {
  playerId: number;
  /** null: totals over all categories. */
  category: string | null;
}

const listCategoryStats = prepared((db, { playerIds }: { playerIds: number[] }) =>
  db
    .selectFrom("player_category_stats")
    .select([
      "player_id as playerId",
      "category",
      "total_score as score",
      "total_answers as answers",
      "total_correct as correct",
      "best_streak as bestStreak",
      "current_streak as currentStreak",
      "xp",
    ])
    .where("player_id", "=", sql<number>`any(${playerIds}::int[])`),
);

/**
 * The totals of these players, overall and per category, locked in id order until the transaction ends. A
 * player who does not exist has no row.
 */
export async function lockStats(
  em: EntityManager,
  playerIds: readonly number[],
): Promise<StatsRow[]> {
  const all = await lockTotals(em, playerIds);
  if (all.length === 0) return [];
  // The lock on a player's overall totals also covers the categories.
  const perCategory = await listCategoryStats(em, { playerIds: [...playerIds] });
  return [...all, ...perCategory];
}

/** Like `lockStats`, without the totals per category; the lock covers them as well. */
export async function lockTotals(
  em: EntityManager,
  playerIds: readonly number[],
): Promise<StatsRow[]> {
  if (playerIds.length === 0) return [];
  const ids = [...playerIds];
  // Locks all rows or none: a caller that locked some of them while inserting the others could deadlock with
  // another.
  const areAllThere = sql`(select count(*) from player_stats
    where player_id = any(${ids}::int[])) = ${ids.length}`;
  // Raw SQL: locks all rows or none.
  const lock = (condition = sql`true`) =>
    preparedRowsOf<StatsRow>(
      em,
      sql`select player_id as "playerId", null as category, total_score::float8 as score, total_answers as answers,
          total_correct as correct, best_streak as "bestStreak", current_streak as "currentStreak", total_xp as xp
        from player_stats where player_id = any(${ids}::int[]) and ${condition}
        order by player_id for update`,
    );
  const all = await lock(areAllThere);
  if (all.length === ids.length) return all;
  await changeRows(em, (db) =>
    db
      .insertInto("player_stats")
      .columns(["player_id"])
      .expression(
        db.selectFrom("players").select("id").where("id", "=", anyOf(ids, "int")).orderBy("id"),
      )
      .onConflict((conflict) => conflict.column("player_id").doNothing()),
  );
  return lock();
}

/** Writes totals read by `lockStats`; the timestamp of a total changes only when the total grows (LB-01). */
export function updateTotals(rows: readonly StatsRow[], at: Date): RawBuilder<unknown> {
  return sql`update player_stats s set
      score_at = case when x.score > s.total_score then ${at} else s.score_at end,
      xp_at = case when x.xp > s.total_xp then ${at} else s.xp_at end,
      streak_at = case when x.best > s.best_streak then ${at} else s.streak_at end,
      total_score = x.score, total_answers = x.answers, total_correct = x.correct,
      best_streak = x.best, current_streak = x.current, total_xp = x.xp
    from ${inputOf(rows.filter((row) => row.category === null))} where s.player_id = x.player_id`;
}

/** Like `updateTotals`, for the totals per category. */
export function saveCategoryTotals(rows: readonly StatsRow[]): RawBuilder<unknown> {
  return sql`insert into player_category_stats as s
      (player_id, category, total_score, total_answers, total_correct, best_streak, current_streak, xp)
    select x.player_id, x.category, x.score, x.answers, x.correct, x.best, x.current, x.xp
    from ${inputOf(rows.filter((row) => row.category !== null))}
    on conflict (player_id, category) do update set total_score = excluded.total_score,
      total_answers = excluded.total_answers, total_correct = excluded.total_correct, best_streak = excluded.best_streak,
      current_streak = excluded.current_streak, xp = excluded.xp`;
}

function inputOf(list: readonly StatsRow[]): RawBuilder<unknown> {
  const json = JSON.stringify(
    list.map((r) => ({
      player_id: r.playerId,
      category: r.category,
      score: r.score,
      answers: r.answers,
      correct: r.correct,
      best: r.bestStreak,
      current: r.currentStreak,
      xp: r.xp,
    })),
  );
  return sql`jsonb_to_recordset(${json}::jsonb) as x(player_id int, category text, score bigint, answers int, correct int, best int, current int, xp int)`;
}

export interface KnownAnswer {
  playerId: number;
  questionId: number;
  /** Whether the last answer was correct. */
  isCorrect: boolean;
  /** True if a correction has earned XP: only corrections earn XP without points (TRV-11). */
  isCorrected: boolean;
}

const findKnownAnswers = prepared(
  (db, { playerIds, questionIds }: { playerIds: number[]; questionIds: number[] }) =>
    db
      .selectFrom("question_answers")
      .select([
        "player_id as playerId",
        "question_id as questionId",
        sql<boolean>`(array_agg(is_correct order by id desc))[1]`.as("isCorrect"),
        sql<boolean>`bool_or(xp > 0 and points = 0)`.as("isCorrected"),
      ])
      .where("player_id", "=", sql<number>`any(${playerIds}::int[])`)
      .where("question_id", "=", sql<number>`any(${questionIds}::int[])`)
      .groupBy(["player_id", "question_id"]),
);

/** How each player answered each question before; pairs without an answer are absent. */
export function knownAnswers(
  em: EntityManager,
  playerIds: readonly number[],
  questionIds: readonly number[],
): Promise<KnownAnswer[]> {
  return findKnownAnswers(em, { playerIds: [...playerIds], questionIds: [...questionIds] });
}
