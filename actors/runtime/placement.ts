import { allShards, hashText } from "./keys.ts";

/** Owner record of a shard as stored: `incarnation|epoch`, or empty when released. */
export interface Owner {
  incarnation: string;
  token: string;
}

export function parseOwner(record: string | null): Owner | null {
  if (!record) return null;
  return { incarnation: record.slice(0, record.lastIndexOf("|")), token: record };
}

/** What each of some shards gives each worker last asked for. */
export type Weights = Map<string, Uint32Array>;

/**
 * Whom each of these shards wants, in their order. Rendezvous hashing: the worker with the highest hash; few shards
 * move when one joins or dies. The hashes are kept: a death wants an answer at once, and brings no new ones.
 */
export function wantedOwners(
  workers: readonly string[],
  shards: readonly number[] = allShards,
  kept: Weights = new Map<string, Uint32Array>(),
): (string | null)[] {
  for (const worker of kept.keys()) if (!workers.includes(worker)) kept.delete(worker);
  const wanted: (string | null)[] = shards.map(() => null);
  const highest = shards.map(() => -1);
  for (const worker of workers) {
    const weights = kept.get(worker) ?? weightsOf(worker, shards);
    kept.set(worker, weights);
    weights.forEach((weight, i) => {
      if (weight <= (highest[i] ?? 0)) return;
      highest[i] = weight;
      wanted[i] = worker;
    });
  }
  return wanted;
}

const weightsOf = (worker: string, shards: readonly number[]) =>
  Uint32Array.from(shards, (shard) => hashText(`${worker}#${shard}`));
