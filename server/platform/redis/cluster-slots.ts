import calculateSlot from "cluster-key-slot";
import type { Cluster } from "ioredis";

export const slotOf = (key: string): number => calculateSlot(key);

/**
 * The nodes that serve a slot as `host:port`, master first; empty while unknown. The only place that reads
 * `slots`, an undocumented field of ioredis. Its sharded subscriptions would suffice if they emitted an
 * event after renewing one (redis/ioredis#232, closed as "wontfix").
 */
export const nodesOf = (cluster: Cluster, slot: number): readonly string[] =>
  cluster.slots[slot] ?? [];
