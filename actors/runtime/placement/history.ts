import type { Redis } from "ioredis";
import { allShards, kindsKey, Keyspace } from "../storage/keys.ts";
import { runScript } from "../storage/scripts.ts";

/** Key prefix of the kind that was there before kinds were noted: the lobbies. */
const firstPrefix = "";

/**
 * Notes that a single Redis has all it had under the history of writes `earlier` (its `master_replid`), which only
 * whoever starts it can know; "" notes nothing. Resolves to the present history.
 */
export async function continueHistory(redis: Redis, earlier: string): Promise<string> {
  const keys = earlier === "" ? [] : await historyKeys(redis);
  return String(await runScript(redis, "continue", keys, [earlier]));
}

/** One for each shard of each kind. */
async function historyKeys(redis: Redis): Promise<string[]> {
  const prefixes = new Set([firstPrefix, ...(await redis.smembers(kindsKey))]);
  return [...prefixes].flatMap((prefix) => allShards.map(new Keyspace(prefix).history));
}
