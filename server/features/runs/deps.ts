import type { LeaderboardDeps } from "../leaderboards/deps.ts";
import type { QuestionDeps } from "../questions/deps.ts";

/** Dependencies of drawing questions and reading ranks. */
export interface RunDeps extends QuestionDeps, LeaderboardDeps {}
