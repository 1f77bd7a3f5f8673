import type { Redis } from "ioredis";
import type { Keyspace } from "../log/keys.ts";
import { defaultTimings } from "../timing.ts";

/** The nodes of a kind of room that have a recent heartbeat, whatever their release. */
export async function liveNodes(redis: Redis, { workers }: Keyspace): Promise<string[]> {
  const [seconds, micros] = await redis.time();
  const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  const oldest = `(${now - defaultTimings.deadMs}`;
  return redis.zrangebyscore(workers, oldest, "+inf");
}
