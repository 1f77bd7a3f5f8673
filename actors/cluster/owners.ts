import { allShards, hashText } from "../log/keys.ts";

/** Owner record of a shard as stored: `nodeId|epoch`, or empty when released. */
export interface Owner {
  nodeId: string;
  /** Fencing token: the whole record. */
  token: string;
}

export const nodeIdIn = (token: string): string => token.slice(0, token.lastIndexOf("|"));

export const parseOwner = (record: string | null): Owner | null =>
  record ? { nodeId: nodeIdIn(record), token: record } : null;

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
