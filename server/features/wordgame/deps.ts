import type { WithClock } from "../../platform/capabilities.ts";
import type { LeaderboardDeps } from "../leaderboards/deps.ts";

export interface WordGameDeps extends LeaderboardDeps, WithClock {}
