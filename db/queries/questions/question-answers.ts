import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { prepared, preparedRowsOf } from "../../prepared.ts";
import { saveCategoryTotals, updateTotals, type StatsRow } from "../progress/player-stats.ts";
import { rowsOf } from "../rows.ts";

export interface ServedCount {
  questionId: number;
  served: number;
  correct: number;
}

export interface NewAnswer {
  playerId: number;
  questionId: number;
  selectedIndex: number;
  isCorrect: boolean;
  points: number;
  xp: number;
  source: "practice" | "run" | "lobby";
  /** Unique idempotency reference; null = none. */
  ref: string | null;
  at: Date;
}

/** Records answers and marks the questions as seen by the players. */
export async function insertAnswers(
  em: EntityManager,
  answers: readonly NewAnswer[],
): Promise<void> {
  // Raw SQL: rows from one JSON value.
  await rowsOf(em, inserted(answers));
}

function inserted(answers: readonly NewAnswer[]): RawBuilder<unknown> {
  const rows = JSON.stringify(
    answers.map((a) => ({
      player_id: a.playerId,
      question_id: a.questionId,
      selected_index: a.selectedIndex,
      is_correct: a.isCorrect,
      points: a.points,
      xp: a.xp,
      source: a.source,
      ref: a.ref,
      created_at: a.at.toISOString(),
    })),
  );
  return sql`insert into question_answers
      (player_id, question_id, selected_index, is_correct, points, xp, source, ref, created_at)
    select x.* from jsonb_to_recordset(${rows}::jsonb) as x(player_id int, question_id int,
      selected_index int, is_correct boolean, points int, xp int, source text, ref text,
      created_at timestamptz)`;
}

/** Answers with the resulting totals, based on those `lockStats` read. */
export interface Recorded {
  answers: readonly NewAnswer[];
  totals: readonly StatsRow[];
  at: Date;
}

export async function saveRecorded(
  em: EntityManager,
  { answers, totals, at }: Recorded,
): Promise<void> {
  // Raw SQL: three writes in one statement.
  await preparedRowsOf(
    em,
    sql`with totals as (${updateTotals(totals, at)}), by_category as (${saveCategoryTotals(totals)})
      ${inserted(answers)}`,
  );
}

/**
 * Increments the served and correct counters of questions, in id order so that two callers never deadlock.
 * Call it last: others wait for the rows until the transaction ends.
 */
export async function recordServed(
  em: EntityManager,
  counts: readonly ServedCount[],
): Promise<void> {
  if (counts.length === 0) return;
  const rows = counts.map(({ questionId, ...rest }) => ({ question_id: questionId, ...rest }));
  // Raw SQL: locks rows in id order before it writes.
  await rowsOf(
    em,
    sql`with added as (
        select x.question_id, sum(x.served)::int as served, sum(x.correct)::int as correct
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as x(question_id int, served int, correct int)
        group by x.question_id
      ), locked as (
        select id from questions where id in (select question_id from added) order by id
        for no key update
      )
      update questions q set num_served = q.num_served + a.served, num_correct = q.num_correct + a.correct
      from added a where a.question_id = q.id and q.id in (select id from locked)`,
  );
}

export interface StoredAnswer {
  isCorrect: boolean;
  points: number;
  xp: number;
}

const findCategoryXp = prepared((db, { playerId }: { playerId: number }) =>
  db
    .selectFrom("player_category_stats")
    .select(["category", "xp"])
    .where("player_id", "=", playerId),
);

/** XP of a player by category; categories never played are absent. */
export async function readCategoryXp(
  em: EntityManager,
  playerId: number,
): Promise<Map<string, number>> {
  const rows = await findCategoryXp(em, { playerId });
  return new Map(rows.map((row) => [row.category, row.xp]));
}
