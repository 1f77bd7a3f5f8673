import type { Scenarios } from "../floor-scenario.ts";
import { archive } from "./archive.ts";
import { idleService } from "./idle-service.ts";
import { leaderboard } from "./leaderboard.ts";
import { lobbies } from "./lobbies.ts";
import { logins } from "./logins.ts";
import { operator } from "./operator.ts";
import { projection } from "./projection.ts";
import { refusals } from "./refusals.ts";

export const scenarios: Scenarios = {
  archive,
  idle: idleService,
  leaderboard,
  lobbies,
  logins,
  operator,
  projection,
  refusals,
};
