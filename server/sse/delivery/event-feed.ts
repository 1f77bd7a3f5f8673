import type { Redis } from "ioredis";
import type { Logger } from "../../platform/log/logger.ts";
import { createChannels, type Channels } from "../../platform/redis/channels.ts";
import { connectRedis } from "../../platform/redis/redis.ts";
import type { HubLimits } from "./limits.ts";

export interface Follower {
  /** The subscription was confirmed, for the first time or after a reconnect: earlier messages must be read. */
  onConfirmed(): void;
  onMessage(text: string): void;
}

const commandTimeoutMs = 5_000;

type RawEntry = [id: string, fields: string[]];

/** A message as it is stored: its number and its JSON text. */
export interface StoredMessage {
  seq: number;
  text: string;
}

/** Event source of the hub in Redis: live messages by pub/sub channel, older ones from streams. */
export class EventFeed {
  private readonly followers = new Map<string, Follower>();
  private readonly limits: HubLimits;
  private readonly channels: Channels;
  private readonly reader: Redis;

  constructor(url: string, log: Logger, limits: HubLimits) {
    this.limits = limits;
    this.channels = createChannels({
      url,
      log,
      name: "hub-subscriber",
      hear: (channel, text) => this.followers.get(channel)?.onMessage(text),
      confirmed: (channels) => {
        for (const channel of channels) this.followers.get(channel)?.onConfirmed();
      },
    });
    this.reader = connectRedis(url, log, "hub-reader", { commandTimeout: commandTimeoutMs });
  }

  follow(channel: string, follower: Follower): void {
    this.followers.set(channel, follower);
    this.channels.follow(channel);
  }

  unfollow(channel: string): void {
    this.followers.delete(channel);
    this.channels.unfollow(channel);
  }

  /** Reads up to one page of messages from number `from` on; rejects while Redis is down. */
  async read(stream: string, from: number): Promise<StoredMessage[]> {
    const count = this.limits.pageMessages;
    const entries = await this.reader.xrange(stream, `${from}-0`, "+", "COUNT", count);
    return (entries as RawEntry[]).map(messageIn);
  }

  /** The newest message, or null when there is none. */
  async newest(stream: string): Promise<StoredMessage | null> {
    const [entry] = (await this.reader.xrevrange(stream, "+", "-", "COUNT", 1)) as RawEntry[];
    return entry ? messageIn(entry) : null;
  }

  close(): void {
    this.followers.clear();
    this.channels.close();
    this.reader.disconnect();
  }
}

/** A stream entry is the published message: its number, a line break, its text. */
function messageIn([id, [, message = ""]]: RawEntry): StoredMessage {
  return { seq: Number.parseInt(id, 10), text: message.slice(message.indexOf("\n") + 1) };
}
