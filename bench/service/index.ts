import type { Scenarios } from "../scenario.ts";
import { idle } from "./idle.ts";

export const scenarios: Scenarios = { idle };
