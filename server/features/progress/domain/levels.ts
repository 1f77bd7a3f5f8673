/** XP from level 1 to level 2, and the increment of each further level (SCO-02). */
const firstStep = 100;
const stepGrowth = 50;

export interface LevelProgress {
  /** From 1 on. */
  level: number;
  xpInLevel: number;
  /** Total XP between this level and the next. */
  xpForNextLevel: number;
}

/** Level L needs 100 + 50·(L−1) XP to reach the next, starting at level 1 with none (SCO-02). */
export function progressOf(xp: number): LevelProgress {
  let [level, xpInLevel, xpForNextLevel] = [1, Math.max(0, xp), firstStep];
  while (xpInLevel >= xpForNextLevel) {
    xpInLevel -= xpForNextLevel;
    xpForNextLevel += stepGrowth;
    level++;
  }
  return { level, xpInLevel, xpForNextLevel };
}

export function levelOf(xp: number): number {
  return progressOf(xp).level;
}
