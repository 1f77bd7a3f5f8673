import type { LeaderboardDeps } from "../leaderboards/deps.ts";
import type { QuestionDeps } from "../questions/deps.ts";

/** Draws questions and tells ranks. */
export interface RunDeps extends QuestionDeps, LeaderboardDeps {}
