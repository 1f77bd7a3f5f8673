import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { asset } from "../../server/platform/assets.ts";
import type { Connection } from "./connection.ts";

/** The scripts, each beside the code that runs it. */
const paths = {
  commit: "log/commit",
  "index-entry": "log/index-entry",
  claim: "cluster/claim",
  release: "cluster/release",
  heartbeat: "cluster/heartbeat",
  alive: "cluster/alive",
  "mark-intact": "cluster/mark-intact",
  "is-intact": "cluster/is-intact",
  "continue-history": "cluster/continue-history",
} as const;
export type ScriptName = keyof typeof paths;
export const scriptNames = Object.keys(paths) as ScriptName[];
type Argument = string | number;

/** Path of a script in the repository. */
export const scriptPath = (name: ScriptName): string => `actors/${paths[name]}.lua`;

const sources = Object.fromEntries(
  scriptNames.map((name) => {
    const lua = readFileSync(asset(scriptPath(name)), "utf8");
    return [name, { single: withDigest(lua), sharded: withDigest(shardedText(lua)) }];
  }),
) as Record<ScriptName, { single: Source; sharded: Source }>;

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
  redis: Pick<Connection, "evalsha" | "eval" | "isSharded">,
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
