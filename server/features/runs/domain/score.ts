import { multiplierOf, pointsOf, weightOf } from "../../../../actors/lobby/scoring.ts";
import { observedToleranceMs } from "../../../../actors/lobby/limits.ts";
import { earned, streakAfter, type GivenAnswer } from "../../progress/domain/totals.ts";

/** Input of the score of one choice; times in milliseconds. */
export interface Choice {
  difficulty: string;
  isCorrect: boolean;
  /** Streak of the run or session before this answer. */
  streak: number;
  /** Null = unknown: no bonus for speed (SCO-01). */
  timeMs: number | null;
  timerMs: number | null;
  previous: GivenAnswer["previous"];
  isCorrected: boolean;
}

export interface Score {
  /** Awarded points and XP, after TRV-11. */
  points: number;
  xp: number;
  /** Streak of the run or session with this answer. */
  streak: number;
}

/** Points, XP and streak of a choice, and its input to the totals (SCO-01, SCO-02, TRV-11). */
export function scoreOf(choice: Choice): { score: Score; given: GivenAnswer } {
  const { isCorrect, previous, isCorrected } = choice;
  const streak = streakAfter(choice.streak, choice);
  const weight = weightOf(choice.difficulty);
  const points = isCorrect ? speedPoints(weight, choice, streak) : 0;
  const xp = isCorrect ? 10 * weight : 0;
  const given = { isCorrect, points, xp, previous, isCorrected };
  return { score: { ...earned(given), streak }, given };
}

function speedPoints(weight: number, { timeMs, timerMs }: Choice, streak: number): number {
  const isTimed = timeMs !== null && timerMs !== null && timerMs > 0;
  // The full time means no bonus.
  return isTimed
    ? pointsOf(weight, Math.max(0, timeMs), timerMs, streak)
    : pointsOf(weight, 1, 1, streak);
}

/** The multiplier the next correct answer would get (SCO-03). */
export function nextMultiplier(streak: number): number {
  return multiplierOf(streak + 1);
}

/** Counted time of a question the server sent: the client's time is limited by the server's measurement (SCO-04). */
export function believedTimeMs(claimedMs: number, observedMs: number): number {
  return Math.max(claimedMs, Math.max(0, observedMs) - observedToleranceMs);
}
