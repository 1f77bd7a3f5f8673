import type { Run } from "../scenario.ts";
import type { Bot } from "./bot.ts";
import { asManyAsAllowed } from "./allowed.ts";
import { Deliveries } from "./deliveries.ts";
import { Follower } from "./follower.ts";
import { closeTables, openTable, type Table } from "./tables.ts";

const openedAtOnce = 16;
export const toLast = "change to last subscriber";

/** One waiting lobby with many spectators, who all hear of each change that its host makes. */
export class Audience {
  readonly #table: Table;
  readonly #deliveries: Deliveries;
  readonly #followers: Follower[] = [];

  private constructor(table: Table, deliveries: Deliveries) {
    this.#table = table;
    this.#deliveries = deliveries;
  }

  /** Opens the lobby and the streams of this many spectators, or those that the target allows. */
  static async gather(run: Run, size: number): Promise<Audience> {
    const table = await openTable(run, { seats: 1 });
    const audience = new Audience(table, new Deliveries(toLast));
    await asManyAsAllowed(size, openedAtOnce, () => audience.#watch(run.bot()));
    return audience;
  }

  get code(): string {
    return this.#table.host.seat.code;
  }

  /** The host rewrites the theme. `n`: unique in the run. */
  async change(n: number, dueAt: number): Promise<void> {
    const { bot, seat } = this.#table.host;
    const prompt = `theme ${n}`;
    this.#deliveries.expect(prompt, bot, dueAt, this.#followers);
    await bot.measure("change", dueAt, () => seat.settings({ prompt }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.leave()));
    await closeTables([this.#table]);
  }

  async #watch(bot: Bot): Promise<Follower> {
    const spectator = await bot.client.spectate(this.code);
    const follower = new Follower(bot, spectator, ({ type, data }, by) => {
      if (type === "lobby.settings") this.#deliveries.received(data.changes.prompt ?? "", by);
    });
    await follower.open();
    this.#followers.push(follower);
    return follower;
  }
}
