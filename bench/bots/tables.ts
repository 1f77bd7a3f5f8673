import type { LobbyEvent, NewLobby, Seat } from "../../server/web/client/emberline.ts";
import type { Run } from "../scenario.ts";
import type { Bot } from "./bot.ts";
import { asManyAsAllowed } from "./allowed.ts";
import { Follower } from "./follower.ts";

/** A player in a lobby, who follows its events. */
export interface Seated {
  bot: Bot;
  seat: Seat;
  follower: Follower;
}

/** A lobby and its players. */
export interface Table {
  host: Seated;
  /** Host included. */
  seated: Seated[];
}

export interface TableOptions {
  seats: number;
  fields?: Partial<NewLobby>;
  onEvent?: (event: LobbyEvent, follower: Follower) => void;
}

const defaults = { hostName: "Host", mode: "coop", visibility: "public", timer: 60 } as const;

/** Opens lobbies with new guests in all of their seats, or as many as the target allows. */
export const openTables = (run: Run, count: number, options: TableOptions): Promise<Table[]> =>
  asManyAsAllowed(count, 1, () => openTable(run, options));

export async function openTable(
  run: Run,
  { seats, fields = {}, onEvent = () => undefined }: TableOptions,
): Promise<Table> {
  const [first, ...friends] = await run.guests(seats);
  if (!first) throw new RangeError("a table has at least one seat");
  const sit = async (bot: Bot, seat: Seat): Promise<Seated> => {
    const follower = new Follower(bot, seat, onEvent);
    await follower.open();
    return { bot, seat, follower };
  };
  const host = await sit(first, await first.client.create({ ...defaults, ...fields }));
  const others = friends.map(async (bot, n) =>
    sit(bot, await bot.client.join(host.seat.code, `Player ${n + 2}`)),
  );
  return { host, seated: [host, ...(await Promise.all(others))] };
}

const closeMs = 5_000;

/** Ends the lobbies, as they do when their host leaves. */
export async function closeTables(tables: readonly Table[]): Promise<void> {
  const seated = tables.flatMap((table) => table.seated);
  await Promise.all(seated.map(({ follower }) => follower.leave()));
  const ends = tables.map(({ host }) => host.seat.leave({ deadlineMs: closeMs }));
  await Promise.allSettled(ends);
}
