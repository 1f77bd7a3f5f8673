import { defineScenario } from "../scenario.ts";
import { scenario as mix } from "./mix.ts";

/** The day's mix at a low rate for an hour: what grows slowly, or stays when the players have gone, shows here. */
export const scenario = defineScenario({
  ...mix,
  about: "an hour of the day's mix at a low rate, and what stays after it",
  load: { shape: "poisson", perSecond: 10, seconds: 3_600 },
  besidesSeconds: 150,
  budgets: [
    "read errors <= 0.1 %",
    "read response p50 <= 50 ms",
    "answer errors <= 0.1 %",
    "generator memory <= 300 MiB",
    "streams left <= 0",
    "rooms left <= 0",
    // The first score opens the boards.
    "lasting Redis keys left <= 20",
    "unfinished <= 0",
    "dropped <= 0",
  ],
});
