import type { EntityManager } from "@mikro-orm/postgresql";
import {
  readStanding,
  saveIfUnchanged,
  type ServedTimes,
  type Standing,
} from "../../../../db/queries/questions/given-answers.ts";
import type { SessionRow } from "../../../../db/queries/runs/play-sessions.ts";
import { lockTotals } from "../../../../db/queries/progress/player-stats.ts";
import type { StoredAnswer } from "../../../../db/queries/questions/question-answers.ts";
import { AppError } from "../../../platform/errors.ts";
import { scoreOf, type Score } from "./score.ts";
import { idleSince } from "./sessions.ts";
import { addAnswer, noTotals, type GivenAnswer } from "../../progress/domain/totals.ts";

export interface AnswerInput {
  playerId: number;
  questionId: number;
  /** 0-3, or -1 for a timeout. */
  selectedIndex: number;
  /** Streak of the run or session before this answer. */
  streak: number;
  /** Counted milliseconds and available milliseconds; null = unknown. */
  timeMs: number | null;
  timerMs: number | null;
  source: "practice" | "run";
  /** Idempotency reference of an answer, such as `run-12-3`, up to 64 characters; null = each counts. */
  ref: string | null;
  at: Date;
}

export interface RecordedAnswer extends Score {
  isCorrect: boolean;
  /** The player's last answer to this question. */
  previous: GivenAnswer["previous"];
  /** Rounded percentage of right answers, and the number of answers, this one included (TRV-06). */
  correctRate: number;
  numServed: number;
  /** True when `ref` was recorded before: nothing changed, and `streak` is the given one. */
  isRepeat: boolean;
}

/**
 * Scores an answer and adds it to the player's totals; `em` must be in a transaction (SCO-01, SCO-02, TRV-06,
 * TRV-11). Lock its run before. Throws `player:not_found` and `question:not_found`.
 */
export async function recordAnswerWithin(
  em: EntityManager,
  input: AnswerInput,
): Promise<RecordedAnswer> {
  if (!em.isInTransaction()) throw new Error("answers are recorded inside a transaction only");
  const first = await tryToRecord(em, input);
  if (first !== null) return first;
  if ((await lockTotals(em, [input.playerId])).length === 0) throw new AppError("player:not_found");
  const second = await tryToRecord(em, input);
  if (second === null) throw new Error("totals changed under their lock");
  return second;
}

/** Null after a conflict (see `saveScored`). */
async function tryToRecord(em: EntityManager, input: AnswerInput): Promise<RecordedAnswer | null> {
  const { playerId, questionId, ref, streak, at } = input;
  const idle = idleSince(at.getTime());
  const standing = await readStanding(em, { playerId, questionId, ref, idleSince: idle });
  if (standing === null) throw new AppError("question:not_found");
  const { earlier, question } = standing;
  if (earlier !== null) return repeated(earlier, { question, streak });
  return saveScored(em, { input, standing, scored: scoreAnswer(input, standing), session: null });
}

/** The recorded outcome of a repeated reference. */
export const repeated = (
  earlier: StoredAnswer,
  { question, streak }: { question: ServedTimes; streak: number },
): RecordedAnswer => ({
  ...earlier,
  streak,
  previous: null,
  ...rateOf(question),
  isRepeat: true,
});

export interface ScoredAnswer extends Score {
  isCorrect: boolean;
  /** The player's last answer to this question. */
  previous: GivenAnswer["previous"];
  given: GivenAnswer;
}

/** Score of an answer by the rules. */
export function scoreAnswer(input: AnswerInput, { question, known }: Standing): ScoredAnswer {
  const { selectedIndex, streak, timeMs, timerMs } = input;
  const previous = known === null ? null : known.isCorrect ? "right" : "wrong";
  const isCorrect = selectedIndex === question.correctIndex;
  const isCorrected = known?.isCorrected ?? false;
  const { difficulty } = question;
  const choice = { difficulty, isCorrect, streak, timeMs, timerMs, previous, isCorrected } as const;
  const { score, given } = scoreOf(choice);
  return { ...score, isCorrect, previous, given };
}

interface ToSave {
  input: AnswerInput;
  standing: Standing;
  scored: ScoredAnswer;
  /** The play session with this answer; null = none. */
  session: SessionRow | null;
}

/**
 * Writes a scored answer in one statement. Null, with nothing written, after a concurrent answer of the player, when
 * the session is over, or without a row of totals.
 */
export async function saveScored(
  em: EntityManager,
  { input, standing, scored, session }: ToSave,
): Promise<RecordedAnswer | null> {
  const { question, totals, inCategory } = standing;
  if (totals === null) return null;
  const { playerId, questionId, selectedIndex, source, ref, at } = input;
  const { given, ...rest } = scored;
  const { isCorrect, points, xp } = rest;
  const served = await saveIfUnchanged(em, {
    answer: { playerId, questionId, selectedIndex, isCorrect, points, xp, source, ref, at },
    category: question.category,
    seenAnswers: totals.answers,
    totals: addAnswer(totals, given),
    inCategory: addAnswer(inCategory ?? noTotals, given),
    session,
  });
  return served === null ? null : { ...rest, ...rateOf(served), isRepeat: false };
}

function rateOf({ numServed, numCorrect }: ServedTimes) {
  const correctRate = numServed === 0 ? 0 : Math.round((100 * numCorrect) / numServed);
  return { correctRate, numServed };
}
