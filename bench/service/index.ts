import type { Scenarios } from "../floor-scenario.ts";
import { idle } from "./idle.ts";

export const scenarios: Scenarios = { idle };
