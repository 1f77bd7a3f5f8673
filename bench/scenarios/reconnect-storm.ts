import { closeTables, openTables } from "../bots/tables.ts";
import { defineScenario } from "../scenario.ts";

const numTables = 75;
const seats = 4;

/**
 * Players lose their connection and come back: a few at any time, and five times as many in the middle of the run, as
 * after the restart of a proxy. Meanwhile something happens at their table, which they must catch up with.
 */
export const scenario = defineScenario({
  about: "reconnects of 225 players, in a storm in the middle",
  load: { shape: "spike", perSecond: 10, peak: 50, seconds: 60 },
  besidesSeconds: 15,
  budgets: [
    "reconnect errors <= 0.1 %",
    "reconnect response p50 <= 100 ms",
    "reconnect response p90 <= 500 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const tables = await openTables(run, run.share(numTables), { seats });
    const players = tables.flatMap(({ host, seated }) =>
      seated.filter((one) => one !== host).map((player) => ({ host, player })),
    );
    return { tables, players };
  },
  async arrive({ players }, { n, dueAt }) {
    // Each player again only after all others.
    const at = players.shift();
    if (!at) throw new Error("all players are reconnecting already");
    const { host, player } = at;
    try {
      await player.follower.leave();
      await Promise.allSettled([
        host.bot.measure("change", dueAt, () => host.seat.settings({ prompt: `theme ${n}` })),
        player.bot.measure("reconnect", dueAt, () =>
          player.follower.comeBack(player.bot.client, player.seat),
        ),
      ]);
    } finally {
      players.push(at);
    }
  },
  teardown: ({ tables }) => closeTables(tables),
});
