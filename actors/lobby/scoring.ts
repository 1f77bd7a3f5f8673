import { observedToleranceMs } from "./limits.ts";
import type { AnswerResult, DrawnQuestion, Round, Seat } from "./types.ts";

/** Weight by difficulty (SCO-01). An unknown difficulty weighs like medium, to which `auto` resolves. */
const weights = new Map<string, number>([
  ["elementary", 1],
  ["easy", 1],
  ["middle_school", 2],
  ["medium", 2],
  ["high_school", 2],
  ["hard", 3],
  ["undergrad", 3],
  ["masters", 4],
  ["phd", 5],
  ["postdoc", 5],
]);

export function weightOf(difficulty: string): number {
  return weights.get(difficulty) ?? 2;
}

/** Multiplier of a correct answer, by the streak including it (SCO-01). */
export function multiplierOf(streak: number): number {
  if (streak >= 10) return 4;
  if (streak >= 6) return 3;
  return streak >= 3 ? 2 : 1;
}

/** Points of a correct answer; `streak` includes it (SCO-01). */
export function pointsOf(weight: number, timeMs: number, timerMs: number, streak: number): number {
  const base = 100 * weight;
  // A single division of integers: with 1 - t/T a bonus of exactly 5 would be floored to 4.
  const bonus = Math.floor((base * Math.max(0, timerMs - timeMs)) / (2 * timerMs));
  return (base + bonus) * multiplierOf(streak);
}

/** Answer time for scoring: the client's claim counts only within what the server can verify (SCO-04). */
export function timeForPoints(round: Round, at: number, claimedMs: number | null): number {
  const observedMs = Math.max(0, at - round.startedAt);
  if (claimedMs === null) return observedMs;
  return Math.max(claimedMs, observedMs - observedToleranceMs);
}

type Xp = Pick<AnswerResult, "xpGained" | "xpWhole">;
const noXp: Xp = { xpGained: 0 };

/**
 * XP of a correct answer. Anonymous seats earn none (LOB-01); players who already know the question earn
 * little or none (TRV-11).
 */
function xpOf({ accountId }: Seat, { difficulty, xpOfKnown }: DrawnQuestion): Xp {
  if (accountId === null) return noXp;
  const whole = 10 * weightOf(difficulty);
  const xpGained = xpOfKnown?.[accountId] ?? whole;
  return xpGained === whole ? { xpGained } : { xpGained, xpWhole: whole };
}

/** Scores one choice, based on the seat's totals before the question. */
export function scoreChoice(
  seat: Seat,
  question: DrawnQuestion,
  selectedIndex: number,
  timeMs: number,
  timerMs: number,
): AnswerResult {
  const isCorrect = selectedIndex === question.correctIndex;
  const streak = isCorrect ? seat.streak + 1 : 0;
  const weight = weightOf(question.difficulty);
  // A clock that was set back must not give more than the full bonus.
  const pointsEarned = isCorrect ? pointsOf(weight, Math.max(0, timeMs), timerMs, streak) : 0;
  const xp = isCorrect ? xpOf(seat, question) : noXp;
  return {
    seatId: seat.id,
    selectedIndex,
    isCorrect,
    pointsEarned,
    ...xp,
    timeTakenMs: timeMs,
    score: seat.score + pointsEarned,
    streak,
  };
}

/** `correct_rate` (percent, rounded) and `num_served`, including these answers (TRV-06). */
export function ratesOf(
  question: DrawnQuestion,
  results: readonly AnswerResult[],
): { correct_rate: number; num_served: number } {
  const served = question.numServed + results.length;
  const correct = question.numCorrect + results.filter((result) => result.isCorrect).length;
  return {
    correct_rate: served === 0 ? 0 : Math.round((100 * correct) / served),
    num_served: served,
  };
}
