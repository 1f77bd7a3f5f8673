import { ownAddresses } from "../needs.ts";
import { defineScenario } from "../scenario.ts";

/** Visitors who open the page for the first time: a connection each, and a guest. */
export const scenario = defineScenario({
  about: "new visitors who become guests",
  load: { shape: "poisson", perSecond: 40, seconds: 60 },
  besidesSeconds: 8,
  needs: [ownAddresses("/v1/gateway/guest", ({ perMinute }) => perMinute)],
  budgets: [
    "guest errors <= 0.1 %",
    "guest response p50 <= 25 ms",
    "guest response p90 <= 100 ms",
    "dropped <= 0",
  ],
  async setup() {},
  async arrive(_, { dueAt, bot }) {
    const visitor = bot();
    await visitor.measure("guest", dueAt, () => visitor.client.guest());
  },
});
