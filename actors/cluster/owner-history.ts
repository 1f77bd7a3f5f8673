import type { Connection } from "../log/connection.ts";
import { nodeIdIn } from "./owners.ts";

/** Owners of a shard that are kept, for operators (OPS-62). */
export const keptOwners = 8;

/** How a node came to own a shard. */
export type OwnerCause =
  /** Nobody owned it before, as far as the new owner knows. */
  | "started"
  /**
   * The earlier owner had no heartbeat when the new one joined, which cannot tell why: as after a crash of the whole
   * service.
   */
  | "recovered"
  /** Handed over by a node that stops. */
  | "drained"
  /** Handed over by a node that goes on. */
  | "rebalanced"
  /** Taken over from a node whose process ended. */
  | "exited"
  /** Taken over from a node without heartbeats: its process is frozen, or cannot reach Redis. */
  | "frozen"
  /** The node had lost it, and nobody else had claimed it. */
  | "reclaimed";

/** A node began to own a shard. */
export interface OwnerChange {
  atMs: number;
  /** An `OwnerCause`, or a word of a later version. */
  cause: string;
  nodeId: string;
  /** Name of the process. */
  process: string;
}

/** Shards that a node got from one other node, which did not hand them over. */
export interface Takeover {
  kind: string;
  /** Node id of the earlier owner. */
  from: string;
  cause: OwnerCause;
  numShards: number;
  /** Rooms with a deadline; others are not known before their next command. */
  numRooms: number;
  /** Some of their codes. */
  codes: string[];
}

/** A claimed shard. */
export interface ClaimedShard {
  from: string | null;
  cause: OwnerCause;
  /** Actors with a deadline. */
  codes: string[];
}

/** Codes in a `Takeover`. */
const maxCodes = 20;

/** The earlier owner did not hand the shard over. */
export const takeoverCauses = ["exited", "frozen", "recovered"] as const satisfies OwnerCause[];
/** It did. */
export const handoffCauses = ["drained", "rebalanced"] as const satisfies OwnerCause[];
const withoutHandoff: ReadonlySet<OwnerCause> = new Set(takeoverCauses);

/** The takeovers among claimed shards, one for each earlier owner. */
export function takeoversIn(kind: string, claimed: readonly ClaimedShard[]): Takeover[] {
  const takeovers = new Map<string, Takeover>();
  for (const { from, cause, codes } of claimed) {
    if (from === null || !withoutHandoff.has(cause)) continue;
    const known = takeovers.get(from);
    const takeover = known ?? { kind, from, cause, numShards: 0, numRooms: 0, codes: [] };
    takeover.numShards += 1;
    takeover.numRooms += codes.length;
    takeover.codes.push(...codes.slice(0, maxCodes - takeover.codes.length));
    takeovers.set(from, takeover);
  }
  return [...takeovers.values()];
}

/** The owners of a shard as `claim.lua` recorded them, newest first. */
export async function readOwners(
  redis: Pick<Connection, "lrange">,
  key: string,
): Promise<OwnerChange[]> {
  const entries = await redis.lrange(key, 0, keptOwners - 1);
  return entries.flatMap((entry) => {
    const [at, cause, process, token] = entry.split(" ");
    if (!at || !cause || !process || !token) return [];
    return [{ atMs: Number(at), cause, process, nodeId: nodeIdIn(token) }];
  });
}
