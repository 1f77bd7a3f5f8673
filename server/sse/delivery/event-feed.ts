import type { Redis } from "ioredis";
import type { CommitSource } from "../../platform/room-source.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Channels } from "../../platform/redis/channels.ts";
import { createChannels } from "../../platform/redis/create-channels.ts";
import { connectRedis } from "../../platform/redis/redis.ts";
import type { HubLimits } from "./limits.ts";

export interface Follower {
  /**
   * Messages arrive from now on; earlier ones must be read. Called at the start and whenever some may be
   * missing.
   */
  onConfirmed(): void;
  onMessage(seq: number, text: string): void;
}

/** The sources of a topic's messages. */
export interface TopicAddress {
  /** Channel in Redis. */
  channel: string;
  /** Local source of a room, which this process may own. */
  local?: { code: string; source: CommitSource };
}

const commandTimeoutMs = 5_000;

type RawEntry = [id: string, fields: string[]];

/** A stored message: its number and its JSON text. */
export interface StoredMessage {
  seq: number;
  text: string;
}

/**
 * Event source of the hub. Live messages come from the commits of this process if it owns the room, else
 * from a Redis channel; older ones from streams in Redis. A topic has one source at a time, and a switch
 * starts with a read.
 */
export class EventFeed {
  readonly #followers = new Map<string, Follower>();
  readonly #limits: HubLimits;
  readonly #channels: Channels;
  readonly #reader: Redis;

  constructor(url: string, log: Logger, limits: HubLimits) {
    this.#limits = limits;
    this.#channels = createChannels({
      url,
      log,
      name: "hub-subscriber",
      onMessage: (channel, text) => {
        const end = text.indexOf("\n");
        const seq = end < 1 ? Number.NaN : Number(text.slice(0, end));
        this.#followers.get(channel)?.onMessage(seq, text.slice(end + 1));
      },
      confirmed: (channels) => {
        for (const channel of channels) this.#followers.get(channel)?.onConfirmed();
      },
    });
    this.#reader = connectRedis(url, log, "hub-reader", { commandTimeout: commandTimeoutMs });
  }

  follow({ channel, local }: TopicAddress, follower: Follower): void {
    this.#followers.set(channel, follower);
    const isHere = local?.source.follow(local.code, {
      onCommitted: (seq, text) => follower.onMessage(seq, text),
      onSource: (nowHere) => this.#switchTo(nowHere, channel, follower),
    });
    this.#switchTo(isHere ?? false, channel, follower);
  }

  unfollow({ channel, local }: TopicAddress): void {
    local?.source.unfollow(local.code);
    this.#followers.delete(channel);
    this.#channels.unfollow(channel);
  }

  /** Messages that the previous source has not delivered are read from Redis. */
  #switchTo(isHere: boolean, channel: string, follower: Follower): void {
    if (!isHere) return this.#channels.follow(channel);
    this.#channels.unfollow(channel);
    follower.onConfirmed();
  }

  /** Reads up to one page of messages from number `from` on; rejects while Redis is down. */
  async read(stream: string, from: number): Promise<StoredMessage[]> {
    const count = this.#limits.pageMessages;
    const entries = await this.#reader.xrange(stream, `${from}-0`, "+", "COUNT", count);
    return (entries as RawEntry[]).map(messageIn);
  }

  /** The newest message, or null when there is none. */
  async newest(stream: string): Promise<StoredMessage | null> {
    const [entry] = (await this.#reader.xrevrange(stream, "+", "-", "COUNT", 1)) as RawEntry[];
    return entry ? messageIn(entry) : null;
  }

  close(): void {
    this.#followers.clear();
    this.#channels.close();
    this.#reader.disconnect();
  }
}

/** A stream entry is the published message: its number, a line break, its text. */
function messageIn([id, [, message = ""]]: RawEntry): StoredMessage {
  return { seq: Number.parseInt(id, 10), text: message.slice(message.indexOf("\n") + 1) };
}
