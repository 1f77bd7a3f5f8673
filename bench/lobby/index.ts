import type { Scenarios } from "../floor-scenario.ts";
import { everyday } from "./everyday.ts";
import { idle } from "./idle.ts";
import { picks, single } from "./picks.ts";
import { seats } from "./seats.ts";

export const scenarios: Scenarios = { picks, single, idle, everyday, seats };
