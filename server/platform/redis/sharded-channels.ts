import { Redis, type Cluster } from "ioredis";
import type { Channels, ChannelsOptions } from "./channels.ts";
import { nodesOf, slotOf } from "./cluster-slots.ts";
import { healthCheckedOptions, startHealthCheck, type HealthCheck } from "./connection-health.ts";
import { parseClusterAddress } from "./redis-address.ts";

/** Interval at which subscriptions are moved to the node that owns their slot. */
const rebalanceMs = 1_000;

interface Followed {
  slot: number;
  /** Node that confirmed the subscription or was sent it; null without one. */
  at: string | null;
}

/**
 * Sharded pub/sub: one connection to each node that owns a followed slot. ioredis has sharded subscriptions too, but
 * renews them without an event, and gap repair must run after each renewal.
 */
export class ShardedChannels implements Channels {
  readonly #cluster: Cluster;
  readonly #options: ChannelsOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #nodes = new Map<string, Redis>();
  readonly #timer: NodeJS.Timeout;
  readonly #healthCheck: HealthCheck;
  #isClosed = false;

  constructor(cluster: Cluster, options: ChannelsOptions) {
    this.#cluster = cluster;
    this.#options = options;
    cluster.on("ready", () => this.#rebalance());
    this.#timer = setInterval(() => this.#rebalance(), rebalanceMs);
    this.#timer.unref();
    this.#healthCheck = startHealthCheck(() => this.#nodes.values(), options.detectionTimeoutMs);
  }

  follow(channel: string): void {
    const entry = { slot: slotOf(channel), at: null };
    this.#followed.set(channel, entry);
    const key = this.#nodeOf(entry.slot);
    if (key !== null) this.#subscribe(channel, entry, key);
  }

  unfollow(channel: string): void {
    const entry = this.#followed.get(channel);
    this.#followed.delete(channel);
    const redis = entry?.at ? this.#nodes.get(entry.at) : undefined;
    if (redis?.status === "ready") redis.sunsubscribe(channel).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#healthCheck.stop();
    this.#followed.clear();
    for (const redis of this.#nodes.values()) redis.disconnect();
    this.#cluster.disconnect();
  }

  #rebalance(): void {
    if (this.#isClosed) return;
    const used = new Set<string>();
    for (const [channel, entry] of this.#followed) {
      const key = this.#nodeOf(entry.slot);
      if (key === null) continue;
      used.add(key);
      if (entry.at !== key) this.#subscribe(channel, entry, key);
    }
    for (const [key, redis] of this.#nodes) {
      if (used.has(key)) continue;
      this.#nodes.delete(key);
      redis.disconnect();
    }
  }

  #subscribe(channel: string, entry: Followed, key: string): void {
    const redis = this.#nodes.get(key) ?? this.#connect(key);
    if (redis.status !== "ready") return;
    entry.at = key;
    redis.ssubscribe(channel).then(
      () => {
        const isCurrent = this.#followed.get(channel) === entry && entry.at === key;
        if (isCurrent) this.#options.confirmed([channel]);
      },
      // The slot moved or the node is down: the next run of `#rebalance` finds the new owner.
      () => {
        if (entry.at === key) entry.at = null;
      },
    );
  }

  #nodeOf(slot: number): string | null {
    return nodesOf(this.#cluster, slot)[0] ?? null;
  }

  #connect(key: string): Redis {
    const { url, name, log, onMessage, detectionTimeoutMs } = this.#options;
    const colon = key.lastIndexOf(":");
    const redis = new Redis({
      ...parseClusterAddress(url)?.options,
      ...healthCheckedOptions(detectionTimeoutMs),
      host: key.slice(0, colon),
      port: Number(key.slice(colon + 1)),
      connectionName: name,
      autoResubscribe: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    });
    redis.on("error", (error: Error) =>
      log.warn(
        { event: "redis_connection_failed", store: name, reason: error.message },
        "Redis connection failed, reconnecting",
      ),
    );
    redis.on("smessage", onMessage);
    redis.on("close", () => {
      for (const entry of this.#followed.values()) if (entry.at === key) entry.at = null;
    });
    redis.on("ready", () => this.#rebalance());
    this.#nodes.set(key, redis);
    return redis;
  }
}
