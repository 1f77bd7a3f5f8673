import type { Redis } from "ioredis";
import { allShards, kindsKey, Keyspace } from "../log/keys.ts";
import { runScript } from "../log/scripts.ts";

/** Key prefix of the first kind, the only one that existed before histories were recorded per kind. */
const firstPrefix = "";

/**
 * Records that a single Redis has every write of the history `earlier` (its `master_replid`), which only
 * the process that starts Redis knows; "" records nothing. Resolves to the current history.
 */
export async function continueHistory(redis: Redis, earlier: string): Promise<string> {
  const keys = earlier === "" ? [] : await historyKeys(redis);
  return String(await runScript(redis, "continue-history", keys, [earlier]));
}

/** One key per shard and kind. */
async function historyKeys(redis: Redis): Promise<string[]> {
  const prefixes = new Set([firstPrefix, ...(await redis.smembers(kindsKey))]);
  return [...prefixes].flatMap((prefix) => allShards.map(new Keyspace(prefix).history));
}
