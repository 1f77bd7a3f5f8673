/** One answer of a random history. */
export interface Tried {
  question: number;
  category: string;
  difficulty: string;
  isCorrect: boolean;
  timeMs: number | null;
  timerMs: number | null;
}

const weights: Record<string, number> = {
  elementary: 1,
  easy: 1,
  middle_school: 2,
  medium: 2,
  high_school: 2,
  hard: 3,
  undergrad: 3,
  masters: 4,
  phd: 5,
  postdoc: 5,
};

/**
 * Computes SCO-01, SCO-02 and TRV-11 from a complete history, without state between the answers: the result
 * of each answer, and the totals overall and per category.
 */
export function readHistory(history: readonly Tried[]) {
  const earlier = (n: number) =>
    history.slice(0, n).filter((one) => one.question === history[n]?.question);
  const isFirst = (n: number) => earlier(n).length === 0;
  const isCorrection = (n: number) =>
    history[n]?.isCorrect === true && earlier(n).at(-1)?.isCorrect === false;
  const isFirstCorrection = (n: number) =>
    isCorrection(n) &&
    !history.some((one, m) => m < n && one.question === history[n]?.question && isCorrection(m));
  /** First correct answers among `places` since the last wrong one, up to and including place `n`. */
  const streakAt = (places: readonly number[], n: number) => {
    const upTo = places.filter((m) => m <= n);
    const from = upTo.findLast((m) => !history[m]?.isCorrect) ?? -1;
    return upTo.filter((m) => m > from && isFirst(m)).length;
  };
  const all = history.map((_, n) => n);
  const answers = history.map((one, n) => {
    const weight = weights[one.difficulty] ?? 0;
    const streak = streakAt(all, n);
    const isPaid = one.isCorrect && isFirst(n);
    const points = isPaid ? (100 * weight + bonus(weight, one)) * multiplier(streak) : 0;
    const xp = isPaid ? 10 * weight : isFirstCorrection(n) ? 5 * weight : 0;
    const previous = earlier(n).at(-1);
    const before = previous === undefined ? null : previous.isCorrect ? "right" : "wrong";
    return { points, xp, streak, previous: before };
  });
  const totals = (places: readonly number[]) => ({
    score: sum(places.map((n) => answers[n]?.points ?? 0)),
    xp: sum(places.map((n) => answers[n]?.xp ?? 0)),
    answers: places.length,
    correct: places.filter((n) => history[n]?.isCorrect).length,
    currentStreak: streakAt(places, history.length - 1),
    bestStreak: Math.max(0, ...places.map((n) => streakAt(places, n))),
  });
  const categories = [...new Set(history.map((one) => one.category))];
  const ofCategory = (name: string) => all.filter((n) => history[n]?.category === name);
  return {
    answers,
    all: totals(all),
    categories: Object.fromEntries(categories.map((name) => [name, totals(ofCategory(name))])),
  };
}

/** Half the base for zero time, nothing for the full time, in integers. */
function bonus(weight: number, { timeMs, timerMs }: Tried): number {
  if (timeMs === null || timerMs === null || timerMs === 0 || timeMs >= timerMs) return 0;
  const [base, left, whole] = [100n * BigInt(weight), BigInt(timerMs - timeMs), BigInt(timerMs)];
  return Number((base * left) / (2n * whole));
}

function multiplier(streak: number): number {
  return [1, 1, 1, 2, 2, 2, 3, 3, 3, 3][streak] ?? 4;
}

/** Level, and collected and required XP in it, by filling level after level (SCO-02). */
export function readLevel(xp: number): [level: number, inLevel: number, forNext: number] {
  for (let level = 1, left = xp; ; level++) {
    const need = 100 + 50 * (level - 1);
    if (left < need) return [level, left, need];
    left -= need;
  }
}

const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
