import { repeatableAward } from "../needs.ts";
import { defineScenario, oneOf } from "../scenario.ts";

const award = { award_id: "id.award.bench", game: "bench" };

/** An award for one of 200 guests, as after a game: the wallet, its ledger and the level in one transaction. */
export const scenario = defineScenario({
  about: "awards, as after each game",
  load: { shape: "poisson", perSecond: 50, seconds: 60 },
  besidesSeconds: 6,
  needs: [repeatableAward(award)],
  budgets: [
    "award errors <= 0.1 %",
    "award response p50 <= 25 ms",
    "award response p90 <= 100 ms",
    "dropped <= 0",
  ],
  setup: (run) => run.guests(run.share(200)),
  async arrive(guests, { n, dueAt, random }) {
    const bot = oneOf(guests, random);
    const claim = { body: award, key: `${bot.name}-${n}` };
    await bot.measure("award", dueAt, () =>
      bot.client.call("POST", "/v1/embers/@me/awards", claim),
    );
  },
});
