/** Running totals of one player, over all categories or in one (document 2, Player state). */
export interface Totals {
  score: number;
  answers: number;
  correct: number;
  bestStreak: number;
  currentStreak: number;
  xp: number;
}

export interface GivenAnswer {
  isCorrect: boolean;
  /** Points and XP of a first answer. */
  points: number;
  xp: number;
  /** Outcome of the player's last answer to this question; null for the first one. */
  previous: "right" | "wrong" | null;
  /** The XP of a correction was given already, and is given once. */
  isCorrected: boolean;
}

export const noTotals: Totals = {
  score: 0,
  answers: 0,
  correct: 0,
  bestStreak: 0,
  currentStreak: 0,
  xp: 0,
};

/** Points and XP count the first time only; the first correction earns half the XP (TRV-11). */
export function earned(answer: GivenAnswer): { points: number; xp: number } {
  if (answer.previous === null) return { points: answer.points, xp: answer.xp };
  if (answer.previous === "wrong" && answer.isCorrect && !answer.isCorrected)
    return { points: 0, xp: Math.floor(answer.xp / 2) };
  return { points: 0, xp: 0 };
}

/** A repeated right answer leaves a streak as it is; a wrong one always ends it (TRV-11). */
export function streakAfter(
  streak: number,
  { isCorrect, previous }: Pick<GivenAnswer, "isCorrect" | "previous">,
): number {
  if (!isCorrect) return 0;
  return previous === null ? streak + 1 : streak;
}

/** Adds every answer to the totals; points, XP and streak follow the rules above. */
export function addAnswer(totals: Totals, answer: GivenAnswer): Totals {
  const { points, xp } = earned(answer);
  const currentStreak = streakAfter(totals.currentStreak, answer);
  return {
    score: totals.score + points,
    answers: totals.answers + 1,
    correct: totals.correct + (answer.isCorrect ? 1 : 0),
    bestStreak: Math.max(totals.bestStreak, currentStreak),
    currentStreak,
    xp: totals.xp + xp,
  };
}
