import type { Redis } from "ioredis";
import type { Logger } from "../../platform/log/logger.ts";
import { publish } from "../../platform/redis/redis.ts";

/**
 * Lobbies of a dead process are taken over at once instead of after its heartbeat has expired. In a cluster the two
 * go to different nodes, and each of them is enough.
 */
export async function announceDeath(redis: Redis, incarnation: string, log: Logger): Promise<void> {
  const ends = await Promise.allSettled([
    redis.zrem("workers", incarnation),
    publish(redis, "dead", incarnation),
  ]);
  for (const end of ends)
    if (end.status === "rejected") log.warn({ err: end.reason }, "a death could not be announced");
}
