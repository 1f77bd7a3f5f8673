import { defineScenario, type Arrival, type Need, type Run, type Scenario } from "../scenario.ts";
import { scenario as games } from "./games.ts";
import { scenario as guests } from "./guests.ts";
import { scenario as http } from "./http.ts";
import { scenario as leaderboard } from "./leaderboard.ts";
import { scenario as logins } from "./logins.ts";
import { scenario as practice } from "./practice.ts";

/** One of the scenarios, and how many of a thousand arrivals are of its kind. */
interface Part {
  perMille: number;
  needs: readonly Need[];
  setup(run: Run): Promise<(arrival: Arrival) => Promise<void>>;
}

const part = <State>(perMille: number, scenario: Scenario<State>): Part => ({
  perMille,
  needs: (scenario.needs ?? []).map((need) => ({
    ...need,
    check: (bot, run) => need.check(bot, { ...run, perMinute: (run.perMinute * perMille) / 1_000 }),
  })),
  async setup(run) {
    const state = await scenario.setup(run);
    return (arrival) => scenario.arrive(state, arrival);
  },
});

const parts = [
  part(600, http),
  part(150, practice),
  part(120, leaderboard),
  part(80, guests),
  part(30, logins),
  part(20, games),
];

/** What a service sees on an evening: mostly reads, some practice, new visitors, a few logins, and whole games. */
export const scenario = defineScenario({
  about: "a day's mix: reads, practice, boards, visitors, logins and whole games",
  load: { shape: "poisson", perSecond: 60, seconds: 120 },
  besidesSeconds: 35,
  settleSeconds: 60,
  needs: parts.flatMap(({ needs }) => needs),
  budgets: [
    "read errors <= 0.1 %",
    "read response p90 <= 50 ms",
    "draw response p50 <= 50 ms",
    "guest response p50 <= 50 ms",
    "answer errors <= 0.1 %",
    "unfinished <= 0",
    "dropped <= 0",
  ],
  async setup(run) {
    const made: { perMille: number; arrive: (arrival: Arrival) => Promise<void> }[] = [];
    for (const { perMille, setup } of parts) made.push({ perMille, arrive: await setup(run) });
    return made;
  },
  async arrive(made, arrival) {
    let left = arrival.random() * 1_000;
    await made.find(({ perMille }) => (left -= perMille) < 0)?.arrive(arrival);
  },
});
