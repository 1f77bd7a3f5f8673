import { Redis, type Cluster } from "ioredis";
import type { Channels, ChannelsOptions } from "./channels.ts";
import { nodesOf, slotOf } from "./cluster-slots.ts";
import { healthCheckedOptions, startHealthCheck } from "./connection-health.ts";
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
export function createShardedChannels(cluster: Cluster, options: ChannelsOptions): Channels {
  const followed = new Map<string, Followed>();
  const nodes = new Map<string, Redis>();
  const nodeOptions = parseClusterAddress(options.url)?.options ?? {};
  let isClosed = false;

  function nodeOf(slot: number): string | null {
    return nodesOf(cluster, slot)[0] ?? null;
  }

  function connect(key: string): Redis {
    const colon = key.lastIndexOf(":");
    const redis = new Redis({
      ...nodeOptions,
      ...healthCheckedOptions(options.detectionTimeoutMs),
      host: key.slice(0, colon),
      port: Number(key.slice(colon + 1)),
      connectionName: options.name,
      autoResubscribe: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    });
    redis.on("error", (error: Error) =>
      options.log.warn(
        { event: "redis_connection_failed", store: options.name, reason: error.message },
        "Redis connection failed, reconnecting",
      ),
    );
    redis.on("smessage", options.hear);
    redis.on("close", () => {
      for (const entry of followed.values()) if (entry.at === key) entry.at = null;
    });
    redis.on("ready", rebalance);
    nodes.set(key, redis);
    return redis;
  }

  function rebalance(): void {
    if (isClosed) return;
    const used = new Set<string>();
    for (const [channel, entry] of followed) {
      const key = nodeOf(entry.slot);
      if (key === null) continue;
      used.add(key);
      if (entry.at !== key) subscribe(channel, entry, key);
    }
    for (const [key, redis] of nodes) {
      if (used.has(key)) continue;
      nodes.delete(key);
      redis.disconnect();
    }
  }

  function subscribe(channel: string, entry: Followed, key: string): void {
    const redis = nodes.get(key) ?? connect(key);
    if (redis.status !== "ready") return;
    entry.at = key;
    redis.ssubscribe(channel).then(
      () => {
        if (followed.get(channel) === entry && entry.at === key) options.confirmed([channel]);
      },
      // The slot moved or the node is down: the next run of `rebalance` finds the new owner.
      () => {
        if (entry.at === key) entry.at = null;
      },
    );
  }

  cluster.on("ready", rebalance);
  const timer = setInterval(rebalance, rebalanceMs);
  timer.unref();
  const check = startHealthCheck(() => nodes.values(), options.detectionTimeoutMs);
  return {
    follow(channel) {
      const entry = { slot: slotOf(channel), at: null };
      followed.set(channel, entry);
      const key = nodeOf(entry.slot);
      if (key !== null) subscribe(channel, entry, key);
    },
    unfollow(channel) {
      const entry = followed.get(channel);
      followed.delete(channel);
      const redis = entry?.at ? nodes.get(entry.at) : undefined;
      if (redis?.status === "ready") redis.sunsubscribe(channel).catch(() => undefined);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      check.stop();
      followed.clear();
      for (const redis of nodes.values()) redis.disconnect();
      cluster.disconnect();
    },
  };
}
