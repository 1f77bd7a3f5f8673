import type { Redis } from "ioredis";
import type { Logger } from "../core/logger.ts";
import { connectRedis } from "../core/redis.ts";
import { frameOf, type Frame } from "./frames.ts";
import type { HubLimits } from "./limits.ts";

export interface Follower {
  /** The subscription holds, for the first time or again: what was published before has to be read. */
  onConfirmed(): void;
  onMessage(text: string): void;
}

/** Channels confirmed with one command after a reconnect. */
const channelsPerCommand = 256;
const commandTimeoutMs = 5_000;

type RawEntry = [id: string, fields: string[]];

/** What the hub hears from Redis: live messages by channel, older ones from streams. */
export class Feed {
  private readonly followers = new Map<string, Follower>();
  private readonly limits: HubLimits;
  private readonly log: Logger;
  private readonly subscriber: Redis;
  private readonly reader: Redis;
  private isClosed = false;

  constructor(url: string, log: Logger, limits: HubLimits) {
    this.limits = limits;
    this.log = log;
    // Without a follow-up read a repeated subscription would hide what was missed, so we do it ourselves.
    this.subscriber = connectRedis(url, log, "hub-subscriber", { autoResubscribe: false });
    this.reader = connectRedis(url, log, "hub-reader", { commandTimeout: commandTimeoutMs });
    this.subscriber.on("message", (channel: string, text: string) => {
      this.followers.get(channel)?.onMessage(text);
    });
    this.subscriber.on("ready", () => this.subscribe([...this.followers.keys()]));
  }

  follow(channel: string, follower: Follower): void {
    this.followers.set(channel, follower);
    if (this.subscriber.status === "ready") this.subscribe([channel]);
  }

  unfollow(channel: string): void {
    this.followers.delete(channel);
    if (this.subscriber.status !== "ready") return;
    // A lost connection has forgotten its subscriptions, so a failure needs no second try.
    this.subscriber.unsubscribe(channel).catch(() => undefined);
  }

  /** Messages from number `from` on, at most one page; rejects while Redis is away. */
  async read(stream: string, from: number): Promise<Frame[]> {
    const count = this.limits.pageMessages;
    const entries = await this.reader.xrange(stream, `${from}-0`, "+", "COUNT", count);
    return (entries as RawEntry[]).map(frameOfEntry);
  }

  /** The newest message, or null when there is none. */
  async newest(stream: string): Promise<Frame | null> {
    const [entry] = (await this.reader.xrevrange(stream, "+", "-", "COUNT", 1)) as RawEntry[];
    return entry ? frameOfEntry(entry) : null;
  }

  close(): void {
    this.isClosed = true;
    this.followers.clear();
    this.subscriber.disconnect();
    this.reader.disconnect();
  }

  private subscribe(channels: string[]): void {
    for (let i = 0; i < channels.length; i += channelsPerCommand)
      void this.confirm(channels.slice(i, i + channelsPerCommand));
  }

  private async confirm(channels: string[]): Promise<void> {
    const wanted = channels.filter((channel) => this.followers.has(channel));
    if (this.isClosed || wanted.length === 0) return;
    try {
      await this.subscriber.subscribe(...wanted);
    } catch (error) {
      // After a lost connection the next "ready" subscribes to everything again.
      if (this.isClosed || this.subscriber.status !== "ready") return;
      this.log.warn({ err: error }, "a hub subscription failed and is repeated");
      setTimeout(() => void this.confirm(wanted), this.limits.repeatMs).unref();
      return;
    }
    for (const channel of wanted) this.followers.get(channel)?.onConfirmed();
  }
}

function frameOfEntry([id, fields]: RawEntry): Frame {
  return frameOf(Number.parseInt(id, 10), fields[1] ?? "{}");
}
