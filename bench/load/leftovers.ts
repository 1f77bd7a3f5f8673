import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Service } from "../../test/support/process.ts";
import { metricsOf } from "../report/monitor.ts";
import type { Leftover } from "../report/schema.ts";

/** What an own instance holds for its players, by name. */
export type Held = Readonly<Record<string, number>>;

/** A room leaves the memory after a minute without work; then everything must be gone. */
const goneMs = 2 * 60_000;
const pollMs = 5_000;
/** A queue keeps a limited number of its jobs. */
const queuePrefix = "jobs:";

/** Streams, rooms in memory, and keys of Redis that never expire, without those of the queues. */
export async function countHeld({ operatorUrl, operatorToken, redisUrl }: Service): Promise<Held> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const metrics = metricsOf(await (await fetch(`${operatorUrl}/metrics`, { headers })).text());
  const sumOf = (unit: string) =>
    [...metrics].reduce((sum, [key, value]) => (key.startsWith(`${unit}|`) ? sum + value : sum), 0);
  const keys = await countLastingKeys(redisUrl);
  return { streams: sumOf("streams"), rooms: sumOf("rooms"), "lasting Redis keys": keys };
}

async function countLastingKeys(url: string): Promise<number> {
  const redis = new Redis(url.replace(/^unix:\/\//, ""));
  try {
    // A scan may find a key twice.
    const keys = new Set<string>();
    for await (const found of redis.scanStream({ count: 1_000 }))
      for (const key of found as string[]) if (!key.startsWith(queuePrefix)) keys.add(key);
    const reads = redis.pipeline();
    for (const key of keys) reads.ttl(key);
    // -1: without a time to live.
    return ((await reads.exec()) ?? []).filter(([, seconds]) => seconds === -1).length;
  } finally {
    redis.disconnect();
  }
}

/** Waits until the instance holds no more than before, at most two minutes. */
export async function awaitGone(instance: Service, before: Held): Promise<Leftover[]> {
  const startedAt = performance.now();
  const backAfter = new Map<string, number>();
  for (;;) {
    const now = await countHeld(instance);
    const seconds = (performance.now() - startedAt) / 1000;
    const left = Object.entries(before).map(([name, count]) => {
      const after = now[name] ?? 0;
      if (after > count) backAfter.delete(name);
      else if (!backAfter.has(name)) backAfter.set(name, seconds);
      return { name, before: count, after, backAfter: backAfter.get(name) ?? null };
    });
    if (left.every((one) => one.backAfter !== null) || seconds * 1000 > goneMs) return left;
    await pause(pollMs);
  }
}
