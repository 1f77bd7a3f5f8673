import { closeTables, openTables } from "../bots/tables.ts";
import { Deliveries } from "../bots/deliveries.ts";
import { defineScenario, oneOf } from "../scenario.ts";

const numLobbies = 40;

/** Players who take a seat in one of 40 waiting lobbies, look around, and leave; the host sees them come and go. */
export const scenario = defineScenario({
  about: "joins and leaves in 40 waiting lobbies",
  load: { shape: "poisson", perSecond: 20, seconds: 60 },
  besidesSeconds: 13,
  budgets: [
    "join errors <= 0.1 %",
    "join response p90 <= 100 ms",
    "join to host p90 <= 150 ms",
    "leave errors <= 0.1 %",
    "leave response p90 <= 100 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const deliveries = new Deliveries("join to host");
    const tables = await openTables(run, run.share(numLobbies), {
      seats: 1,
      fields: { maxPlayers: 16 },
      onEvent({ type, data }, follower) {
        if (type === "lobby.player_joined") deliveries.received(data.player?.name ?? "", follower);
      },
    });
    return { tables, deliveries, guests: await run.guests(run.share(200)) };
  },
  async arrive({ tables, deliveries, guests }, { n, dueAt, random }) {
    const { host } = oneOf(tables, random);
    const bot = oneOf(guests, random);
    const name = `Visitor ${n}`;
    deliveries.expect(name, bot, dueAt, [host.follower]);
    const seat = await bot.measure("join", dueAt, () => bot.client.join(host.seat.code, name));
    const leavesAt = await bot.pause(300, 1_500);
    await bot.measure("leave", leavesAt, () => seat.leave());
  },
  teardown: ({ tables }) => closeTables(tables),
});
