import { hashText } from "./keys.ts";

/** Owner record of a shard as stored: `incarnation|epoch`, or empty when released. */
export interface Owner {
  incarnation: string;
  token: string;
}

export function parseOwner(record: string | null): Owner | null {
  if (!record) return null;
  return { incarnation: record.slice(0, record.lastIndexOf("|")), token: record };
}

/** Rendezvous hashing: each shard wants the worker with the highest hash; few shards move when one joins or dies. */
export function wantedOwner(workers: readonly string[], shard: number): string | null {
  let best: string | null = null;
  let bestHash = -1;
  for (const worker of workers) {
    const hash = hashText(`${worker}#${shard}`);
    if (hash <= bestHash) continue;
    best = worker;
    bestHash = hash;
  }
  return best;
}
