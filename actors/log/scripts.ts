import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { asset } from "../../../server/platform/assets.ts";
import type { Connection } from "./connection.ts";

export const scriptNames = [
  "commit",
  "claim",
  "release",
  "mark-intact",
  "continue-history",
  "is-intact",
  "heartbeat",
  "alive",
  "index-entry",
] as const;
export type ScriptName = (typeof scriptNames)[number];
type Argument = string | number;

const sources = Object.fromEntries(
  scriptNames.map((name) => {
    const lua = readFileSync(asset(`actors/runtime/storage/${name}.lua`), "utf8");
    return [name, { single: withDigest(lua), sharded: withDigest(shardedText(lua)) }];
  }),
) as Record<ScriptName, { single: Source; sharded: Source }>;

export type ScriptRunner = Pick<Connection, "evalsha" | "eval" | "isSharded">;

interface Source {
  lua: string;
  sha: string;
}

/** The text of a script for the nodes of a Redis Cluster. */
export function shardedText(lua: string): string {
  return lua.replace(/'PUBLISH'/g, "'SPUBLISH'");
}

function withDigest(lua: string): Source {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/** Runs a script by its digest; a Redis that has lost it after a restart gets its text again. */
export async function runScript(
  redis: ScriptRunner,
  name: ScriptName,
  keys: string[],
  args: Argument[],
): Promise<unknown> {
  const { lua, sha } = redis.isSharded ? sources[name].sharded : sources[name].single;
  const all = (keys as Argument[]).concat(args);
  try {
    return await redis.evalsha(sha, keys.length, ...all);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return await redis.eval(lua, keys.length, ...all);
  }
}
