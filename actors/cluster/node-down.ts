import type { Redis } from "ioredis";
import type { Logger } from "../../server/platform/log/logger.ts";
import { publish } from "../../server/platform/redis/redis.ts";
import type { RoomNode } from "../contract.ts";
import { Keyspace } from "../log/keys.ts";

/**
 * Publishes that a node is down, so that its shards move immediately instead of after the heartbeat
 * timeout. On a cluster the two commands go to different Redis nodes; either one is enough.
 */
export async function publishNodeDown(
  redis: Redis,
  { keyPrefix, nodeId }: RoomNode,
  log: Logger,
): Promise<void> {
  const { workers, deadChannel } = new Keyspace(keyPrefix);
  const ends = await Promise.allSettled([
    redis.zrem(workers, nodeId),
    publish(redis, deadChannel, nodeId),
  ]);
  for (const end of ends)
    if (end.status === "rejected")
      log.warn(
        { event: "node_down_notice_failed", err: end.reason },
        "could not publish a node-down notice, its heartbeat expires instead",
      );
}
