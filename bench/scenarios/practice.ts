import { answer, draw } from "../bots/practice.ts";
import { defineScenario, oneOf } from "../scenario.ts";

/** One of 200 players practises: draws a question, thinks, and answers it. */
export const scenario = defineScenario({
  about: "practice: questions drawn and answered",
  load: { shape: "poisson", perSecond: 40, seconds: 60 },
  besidesSeconds: 8,
  budgets: [
    "draw errors <= 0.1 %",
    "draw response p90 <= 100 ms",
    "practice answer errors <= 0.1 %",
    "practice answer response p90 <= 100 ms",
    "dropped <= 0",
  ],
  setup: (run) => run.guests(run.share(200)),
  async arrive(guests, { n, dueAt, random }) {
    const bot = oneOf(guests, random);
    const question = await bot.measure("draw", dueAt, () => draw(bot));
    const answeredAt = await bot.pause(300, 1_500);
    await bot.measure("practice answer", answeredAt, () => answer(bot, question, `practice-${n}`));
  },
});
