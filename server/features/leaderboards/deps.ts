import type { WithEm } from "../../platform/capabilities.ts";
import type { Leaderboards } from "./domain/leaderboards.ts";

export interface LeaderboardDeps extends WithEm {
  leaderboards: Pick<Leaderboards, "read">;
}
