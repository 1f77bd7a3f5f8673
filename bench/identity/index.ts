import type { Scenarios } from "../floor-scenario.ts";
import { beside } from "./beside.ts";
import { logins } from "./logins.ts";
import { requests } from "./requests.ts";
import { timing } from "./timing.ts";

export const scenarios: Scenarios = { logins, requests, beside, timing };
