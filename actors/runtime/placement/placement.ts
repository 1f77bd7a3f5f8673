import { allShards, hashText } from "../storage/keys.ts";

/** Owner record of a shard as stored: `incarnation|epoch`, or empty when released. */
export interface Owner {
  incarnation: string;
  token: string;
}

export function parseOwner(record: string | null): Owner | null {
  if (!record) return null;
  return { incarnation: record.slice(0, record.lastIndexOf("|")), token: record };
}

/**
 * Whom each of these shards wants, in their order. Rendezvous hashing: the worker with the highest hash; few shards
 * move when one joins or dies.
 */
export function wantedOwners(
  workers: readonly string[],
  shards: readonly number[] = allShards,
): (string | null)[] {
  return shards.map((shard) => {
    let wanted: string | null = null;
    let highest = 0;
    for (const worker of workers) {
      const weight = hashText(`${worker}#${shard}`);
      if (weight > highest) [highest, wanted] = [weight, worker];
    }
    return wanted;
  });
}
