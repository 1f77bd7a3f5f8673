import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { liveNodes, lobbyKeyspace } from "../../../actors/index.ts";
import { readFleet } from "./registry.ts";

/** A dead node is heard of for 2 s, and a new one before its instance has named it. */
const settleMs = 3_000;
const pauseMs = 250;

/**
 * Nodes of HTTP workers that no registered instance names, as those of a release before the registry: they share the
 * rooms, and are known by their heartbeats alone.
 */
export async function unregisteredNodes(
  redis: Redis,
  named: readonly string[] = [],
): Promise<string[]> {
  const [nodes, instances] = await Promise.all([liveNodes(redis, lobbyKeyspace), readFleet(redis)]);
  const known = new Set([...named, ...instances.flatMap((instance) => instance.nodes)]);
  return nodes.filter((node) => !known.has(node));
}

/** Those that are still there once a node that starts is named, and a node that ended is forgotten. */
export async function settledUnregistered(redis: Redis): Promise<string[]> {
  const giveUpAt = performance.now() + settleMs;
  for (;;) {
    const found = await unregisteredNodes(redis);
    if (found.length === 0 || performance.now() >= giveUpAt) return found;
    await sleep(pauseMs);
  }
}
