import type { Redis } from "ioredis";
import { shardOf } from "../../actors/log/keys.ts";
import { ownerKey } from "../../actors/lobby/keys.ts";

/** Milliseconds from a fault until each lobby of the victim responded again. */
export interface Takeovers {
  announced: number[];
  silent: number[];
}

/** Codes of the lobbies a worker owns now. */
export async function lobbiesOf(
  redis: Redis,
  nodeId: string,
  codes: readonly string[],
): Promise<string[]> {
  if (codes.length === 0) return [];
  const owners = await redis.mget(codes.map((code) => ownerKey(shardOf(code))));
  return codes.filter((_, i) => owners[i]?.startsWith(`${nodeId}|`));
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
