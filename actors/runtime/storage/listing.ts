import { listingOf, type WireContext } from "../../lobby/snapshot.ts";
import type { Lobby, LobbyEvent } from "../../lobby/types.ts";
import type { Connection } from "./connection.ts";
import { publicListChannel, publicListKey, publicOrderKey, shardOf, unlistedKey } from "./keys.ts";
import { runScript } from "./scripts.ts";

/** Public lobbies shown at most (LOB-04). */
const maxListed = 100;

/** A worker that wakes up may write what it had begun before; it is killed when it does not answer for much less. */
const removalKeptMs = 60_000;

/** Events after which the entry is written anew; those marked true are announced to subscribers (HUB-04). */
const listingEvents: Partial<Record<LobbyEvent["type"], boolean>> = {
  created: true,
  joined: true,
  removed: true,
  started: true,
  finished: true,
  settings_changed: true,
  question_opened: false,
  question_closed: false,
  spectators_counted: false,
};

export interface Listing {
  /** Writes a lobby's entry when one of the events concerns it, which null says they do not. */
  update(lobby: Lobby, events: LobbyEvent[]): Promise<void> | null;
  /** JSON text of the array, newest first, with the present server time in every lobby. */
  read(now: number): Promise<string>;
  /** Codes of listed lobbies that live in this shard. */
  listedIn(shards: ReadonlySet<number>): Promise<string[]>;
  refresh(lobby: Lobby): Promise<void>;
  remove(code: string): Promise<void>;
}

export function createListing(redis: Connection, context: WireContext): Listing {
  function writeEntry(code: string, seq: number | "", createdAt: number, entry: string) {
    const keys = [publicListKey, publicOrderKey, unlistedKey(code)];
    return runScript(redis, "listing", keys, [code, seq, createdAt, entry, removalKeptMs]);
  }

  async function write(lobby: Lobby): Promise<boolean> {
    const entry = listingOf(lobby, context) ?? "";
    return (await writeEntry(lobby.code, lobby.seq, lobby.createdAt, entry)) === 1;
  }

  async function rewrite(lobby: Lobby, isAnnounced: boolean): Promise<void> {
    if ((await write(lobby)) && isAnnounced) await redis.publish(publicListChannel, "");
  }

  return {
    update(lobby, events) {
      if (!events.some((event) => event.type in listingEvents)) return null;
      const wasNeverListed =
        lobby.settings.visibility === "private" &&
        !events.some((e) => e.type === "settings_changed");
      if (wasNeverListed) return null;
      return rewrite(
        lobby,
        events.some((event) => listingEvents[event.type]),
      );
    },
    async read(now) {
      const codes = await redis.zrevrange(publicOrderKey, 0, maxListed - 1);
      if (codes.length === 0) return "[]";
      const entries = await redis.hmget(publicListKey, ...codes);
      const lobbies = entries.flatMap((entry) =>
        entry === null ? [] : [`${entry.slice(entry.indexOf("\n") + 1)},"server_now_ms":${now}}`],
      );
      return `[${lobbies.join(",")}]`;
    },
    async listedIn(shards) {
      const codes = await redis.zrange(publicOrderKey, "0", "-1");
      return codes.filter((code) => shards.has(shardOf(code)));
    },
    async refresh(lobby) {
      if (await write(lobby)) await redis.publish(publicListChannel, "");
    },
    async remove(code) {
      await writeEntry(code, "", 0, "");
      await redis.publish(publicListChannel, "");
    },
  };
}
