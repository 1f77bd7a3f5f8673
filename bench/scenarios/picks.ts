import { Deliveries } from "../bots/deliveries.ts";
import { closeTables, openTables, type Table } from "../bots/tables.ts";
import { defineScenario, oneOf } from "../scenario.ts";

const numTables = 50;
const seats = 4;
/** Least and most time a table spends on a question, whose timer is 60 s, and looks at its answer. */
const questionMs = [20_000, 40_000] as const;
const lookMs = [300, 600] as const;

/** Co-op tables whose players pick and change their minds; everybody at the table sees each pick. */
export const scenario = defineScenario({
  about: "picks of 200 players at co-op tables, who all see them",
  load: { shape: "poisson", perSecond: 100, seconds: 60 },
  besidesSeconds: 14,
  budgets: [
    "pick errors <= 0.1 %",
    "pick response p50 <= 20 ms",
    "pick response p90 <= 100 ms",
    "pick to last subscriber p90 <= 150 ms",
    "dropped <= 0",
  ],
  async setup(run) {
    const deliveries = new Deliveries("pick to last subscriber");
    const tables = await openTables(run, run.share(numTables), {
      seats,
      fields: { numQuestions: null },
      onEvent({ type, data }, follower) {
        if (type === "lobby.pick")
          deliveries.received(pickName(data.player_id, data.selected_index), follower);
      },
    });
    const open = new Set<Table>();
    for (const table of tables) {
      await table.host.seat.start();
      void keepPlaying(table, open).catch(() => undefined);
    }
    return { tables, open, deliveries };
  },
  async arrive({ open, deliveries }, { dueAt, random }) {
    const { host, seated } = oneOf([...open], random);
    const { bot, seat } = oneOf(seated, random);
    const selected = Math.floor(random() * 4);
    const name = pickName(seat.key.playerId, selected);
    const index = host.seat.lobby?.current_index ?? 0;
    deliveries.expect(
      name,
      bot,
      dueAt,
      seated.map(({ follower }) => follower),
    );
    await bot.measure("pick", dueAt, () => seat.pick({ index, selected_index: selected }));
  },
  teardown: ({ tables }) => closeTables(tables),
});

const pickName = (playerId: number, selected: number) => `${playerId} picks ${selected}`;

/** The host goes on to the next question again and again; meanwhile the table is not open. */
async function keepPlaying(table: Table, open: Set<Table>): Promise<never> {
  const { bot, seat } = table.host;
  for (;;) {
    open.add(table);
    await bot.pause(...questionMs);
    open.delete(table);
    await bot.pause(...lookMs);
    await seat.next(seat.lobby?.current_index ?? 0);
  }
}
