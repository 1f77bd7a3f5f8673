import { defineScenario, oneOf } from "../scenario.ts";

/** Short reads of public data, each by one of 64 players with connections of their own. */
export const scenario = defineScenario({
  about: "short reads of public data",
  load: { shape: "poisson", perSecond: 300, seconds: 60 },
  besidesSeconds: 12,
  budgets: [
    "read errors <= 0.1 %",
    "read response p50 <= 10 ms",
    "read response p99 <= 100 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    return Array.from({ length: run.share(64) }, () => run.bot());
  },
  async arrive(bots, { dueAt, random }) {
    const bot = oneOf(bots, random);
    await bot.measure("read", dueAt, () => bot.client.categories());
  },
});
