import type { Bot } from "../bots/bot.ts";
import { answer, draw } from "../bots/practice.ts";
import { defineScenario, oneOf } from "../scenario.ts";

const path = "/v1/games/trivia/leaderboard";
const tabs = ["score", "accuracy", "streak", "xp"] as const;
/** Share of the visits that look for a player. */
const searches = 0.1;
/** Share of the visits by players who have just scored, so that the boards change while they are read. */
const scores = 0.1;

/** Pages of the boards, with the reader's own rank, while others score; some look for a player by name. */
export const scenario = defineScenario({
  about: "leaderboards read while players score",
  load: { shape: "poisson", perSecond: 100, seconds: 60 },
  besidesSeconds: 8,
  budgets: [
    "board errors <= 0.1 %",
    "board response p50 <= 15 ms",
    "board response p90 <= 100 ms",
    "search errors <= 0.1 %",
    "search response p50 <= 50 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const guests = await run.guests(run.share(200));
    for (const guest of guests) await score(guest, "first");
    return guests;
  },
  async arrive(guests, { n, dueAt, random }) {
    const bot = oneOf(guests, random);
    const visit = random();
    if (visit < searches)
      return void (await bot.measure("search", dueAt, () => read(bot, "search=guest_1")));
    if (visit < searches + scores) await score(bot, `score-${n}`);
    else await bot.measure("board", dueAt, () => read(bot, `tab=${oneOf(tabs, random)}`));
  },
});

const read = (bot: Bot, query: string) => bot.client.call("GET", `${path}?${query}`);
const score = async (bot: Bot, key: string) => answer(bot, await draw(bot), key);
