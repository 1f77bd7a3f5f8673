import { allShards, hashText } from "../log/keys.ts";

/** Owner record of a shard as stored: `nodeId|epoch`, or empty when released. */
export interface Owner {
  nodeId: string;
  /** Fencing token: the whole record. */
  token: string;
}

export function parseOwner(record: string | null): Owner | null {
  if (!record) return null;
  return { nodeId: record.slice(0, record.lastIndexOf("|")), token: record };
}

/**
 * The target node of each shard, in order. Rendezvous hashing: the node with the highest hash wins, so few
 * shards move when a node joins or dies.
 */
export function targetOwners(
  nodes: readonly string[],
  shards: readonly number[] = allShards,
): (string | null)[] {
  return shards.map((shard) => {
    let target: string | null = null;
    let highest = 0;
    for (const node of nodes) {
      const weight = hashText(`${node}#${shard}`);
      if (weight > highest) [highest, target] = [weight, node];
    }
    return target;
  });
}
