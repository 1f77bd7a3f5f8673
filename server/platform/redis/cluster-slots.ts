import calculateSlot from "cluster-key-slot";
import type { Cluster } from "ioredis";

export const slotOf = (key: string): number => calculateSlot(key);

/**
 * The nodes that serve a slot as `host:port`, the master first; none while they are unknown. The one place that reads
 * `slots`, a field ioredis does not document. It has sharded subscriptions too, but tells nobody when it has renewed
 * one: with such an event (redis/ioredis#232, closed as "wontfix") its own would do.
 */
export const nodesOf = (cluster: Cluster, slot: number): readonly string[] =>
  cluster.slots[slot] ?? [];
