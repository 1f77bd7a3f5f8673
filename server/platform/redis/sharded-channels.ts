import { Redis, type Cluster } from "ioredis";
import type { Channels, ChannelsOptions } from "./channels.ts";
import { nodesOf, slotOf } from "./cluster-slots.ts";
import { askedOptions, askRegularly } from "./link-check.ts";
import { parseClusterAddress } from "./redis-address.ts";

/** How often it is checked that every subscription is at the node that has its slot. */
const settleMs = 1_000;

interface Followed {
  slot: number;
  /** Node that confirmed the subscription, or null; while it is asked, too. */
  at: string | null;
}

/**
 * Sharded subscriptions: a connection to each node with a slot we follow. The client library has them
 * too, but renews them silently, and whoever repairs gaps has to know when a subscription holds again.
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
      ...askedOptions(options.noticedInMs),
      host: key.slice(0, colon),
      port: Number(key.slice(colon + 1)),
      connectionName: options.name,
      autoResubscribe: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    });
    redis.on("error", (error: Error) =>
      options.log.warn({ store: options.name, reason: error.message }, "redis connection"),
    );
    redis.on("smessage", options.hear);
    redis.on("close", () => {
      for (const entry of followed.values()) if (entry.at === key) entry.at = null;
    });
    redis.on("ready", settle);
    nodes.set(key, redis);
    return redis;
  }

  function settle(): void {
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
      // The slot has moved or the node is gone: the next look finds where to ask.
      () => {
        if (entry.at === key) entry.at = null;
      },
    );
  }

  cluster.on("ready", settle);
  const timer = setInterval(settle, settleMs);
  timer.unref();
  const check = askRegularly(() => nodes.values(), options.noticedInMs);
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
