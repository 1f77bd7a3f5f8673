import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../assets.ts";

type Argument = string | number;
export type Script = (redis: Redis, keys: string[], ...args: Argument[]) => Promise<unknown>;

/**
 * A Lua script of the repository, by its path. It is sent by its digest; a Redis that has lost it after a restart gets
 * its text again. On Redis Cluster all keys must be in one slot.
 */
export function scriptOf(path: string): Script {
  const lua = readFileSync(asset(path), "utf8");
  const digest = createHash("sha1").update(lua).digest("hex");
  return async (redis, keys, ...args) => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(lua, keys.length, ...keys, ...args);
    }
  };
}
