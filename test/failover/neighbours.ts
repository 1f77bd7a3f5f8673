import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Redis } from "ioredis";
import { publishNodeDown } from "../../actors/index.ts";
import { lobbyKeyPrefix } from "../../actors/lobby/actor.ts";
import { shardCount, shardOf } from "../../actors/log/keys.ts";
import { targetOwners } from "../../actors/cluster/owners.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { forked } from "../support/forked.ts";
import { eventStreamKey, ownerKey } from "../support/lobby-keys.ts";

/** A worker in a separate process that shares the lobbies with the test. */
export interface Neighbour {
  process: ChildProcess;
  nodeId: string;
}

const waitLimitMs = 60_000;
let codeCount = 0;

export async function startNeighbour(redis: Redis, redisUrl: string): Promise<Neighbour> {
  const file = new URL("../actors/rooms/member-process.ts", import.meta.url);
  const child = forked(file, [redisUrl]);
  const [{ nodeId }] = (await once(child, "message")) as [{ nodeId: string }];
  await until(
    async () => (await ownedBy(redis, nodeId)) > shardCount / 4,
    "the neighbour has its shards",
  );
  return { process: child, nodeId };
}

/** SIGKILL, with the notice of a primary whose process has exited. */
export async function killNeighbour(redis: Redis, other: Neighbour): Promise<void> {
  const exited = once(other.process, "exit");
  other.process.kill("SIGKILL");
  await exited;
  const { nodeId } = other;
  await publishNodeDown(redis, { keyPrefix: lobbyKeyPrefix, nodeId }, silentLogger);
}

export async function ownerRecords(redis: Redis): Promise<(string | null)[]> {
  return redis.mget(Array.from({ length: shardCount }, (_, shard) => ownerKey(shard)));
}

export async function ownedBy(redis: Redis, nodeId: string): Promise<number> {
  const owners = await ownerRecords(redis);
  return owners.filter((owner) => owner?.startsWith(`${nodeId}|`)).length;
}

/** Whether each shard is owned by its target among these workers. */
export async function isBalanced(redis: Redis, workers: string[]): Promise<boolean> {
  const owners = await ownerRecords(redis);
  const wanted = targetOwners(workers);
  return owners.every((owner, shard) => owner?.startsWith(`${wanted[shard]}|`));
}

/** An unused code whose shard this worker owns. */
export async function codeOf(redis: Redis, nodeId: string): Promise<string> {
  for (;;) {
    const code = `F${(codeCount++).toString(36).toUpperCase().padStart(5, "A")}`;
    const owner = await redis.get(ownerKey(shardOf(code)));
    if (owner?.startsWith(`${nodeId}|`)) return code;
  }
}

/** Types of the messages a lobby has published, with their numbers. */
export async function logOf(redis: Redis, code: string): Promise<{ seq: number; type: string }[]> {
  const entries = await redis.xrange(eventStreamKey(code), "-", "+");
  return entries.map(([id, [, message = ""]]) => {
    const { type } = JSON.parse(message.slice(message.indexOf("\n"))) as { type: string };
    return { seq: Number.parseInt(id, 10), type };
  });
}

export async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + waitLimitMs;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`not within ${waitLimitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
