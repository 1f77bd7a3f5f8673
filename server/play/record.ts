import type { EntityManager } from "@mikro-orm/postgresql";
import { knownAnswers, lockStats, type StatsRow } from "../../db/queries/player-stats.ts";
import {
  findAnswerByRef,
  recordServed,
  saveRecordedAndServed,
  type ServedRow,
  type StoredAnswer,
} from "../../db/queries/question-answers.ts";
import { AppError } from "../core/errors.ts";
import { scoreOf, type Score } from "./score.ts";
import { addAnswer, noTotals, type GivenAnswer } from "./totals.ts";

export interface AnswerInput {
  playerId: number;
  question: { id: number; category: string; difficulty: string; correctIndex: number };
  /** 0-3, or -1 for a timeout. */
  selectedIndex: number;
  /** Streak of the run or session before this answer. */
  streak: number;
  /** Milliseconds that count and milliseconds there were; null = unknown. */
  timeMs: number | null;
  timerMs: number | null;
  source: "practice" | "run";
  /** Names what can be answered once only, such as `run-12-3`, up to 64 characters; null = each counts. */
  ref: string | null;
  at: Date;
}

export interface RecordedAnswer extends Score {
  isCorrect: boolean;
  /** How the player answered this question last time. */
  previous: GivenAnswer["previous"];
  /** Rounded percent of all answers that were right, and their number, this one included (TRV-06). */
  correctRate: number;
  numServed: number;
  /** True when `ref` was recorded before: nothing changed, and `streak` is the one handed in. */
  isRepeat: boolean;
}

/**
 * Scores an answer and adds it to the player's totals in the transaction of `em`, which has to be
 * one (SCO-01, SCO-02, TRV-06, TRV-11). Lock what the answer belongs to (run, session) before.
 * Throws `player:not_found`.
 */
export async function recordAnswerWithin(
  em: EntityManager,
  input: AnswerInput,
): Promise<RecordedAnswer> {
  if (!em.isInTransaction()) throw new Error("answers are recorded inside a transaction only");
  const stats = await lockStats(em, [input.playerId]);
  if (stats.length === 0) throw new AppError("player:not_found");
  // The lock is taken: whoever recorded this before has committed or is gone.
  const earlier = input.ref === null ? null : await findAnswerByRef(em, input.ref);
  return earlier === null ? record(em, input, stats) : repeat(em, input, earlier);
}

async function record(
  em: EntityManager,
  input: AnswerInput,
  stats: readonly StatsRow[],
): Promise<RecordedAnswer> {
  const { playerId, question, selectedIndex, streak, timeMs, timerMs, source, ref, at } = input;
  const [known] = await knownAnswers(em, [playerId], [question.id]);
  const previous = known === undefined ? null : known.isCorrect ? "right" : "wrong";
  const isCorrect = selectedIndex === question.correctIndex;
  const isCorrected = known?.isCorrected ?? false;
  const { difficulty } = question;
  const choice = { difficulty, isCorrect, streak, timeMs, timerMs, previous, isCorrected } as const;
  const { score, given } = scoreOf(choice);
  const grown = [null, question.category].map((category) => {
    const row = stats.find((one) => one.category === category) ?? noTotals;
    return { ...addAnswer(row, given), playerId, category };
  });
  const { points, xp } = score;
  const questionId = question.id;
  const answer = { playerId, questionId, selectedIndex, isCorrect, points, xp, source, ref, at };
  const recorded = { answers: [answer], totals: grown, at };
  const count = { questionId, served: 1, correct: isCorrect ? 1 : 0 };
  // Last of all: many players may wait for the row of one question.
  const served = rateOf(await saveRecordedAndServed(em, recorded, [count]));
  return { isCorrect, ...score, previous, ...served, isRepeat: false };
}

async function repeat(
  em: EntityManager,
  { question, streak }: AnswerInput,
  earlier: StoredAnswer,
): Promise<RecordedAnswer> {
  const count = { questionId: question.id, served: 0, correct: 0 };
  const served = rateOf(await recordServed(em, [count]));
  return { ...earlier, streak, previous: null, ...served, isRepeat: true };
}

function rateOf([row]: readonly ServedRow[]) {
  const { numServed = 0, numCorrect = 0 } = row ?? {};
  const correctRate = numServed === 0 ? 0 : Math.round((100 * numCorrect) / numServed);
  return { correctRate, numServed };
}
