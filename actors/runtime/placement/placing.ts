import type { Connection } from "../storage/connection.ts";
import { createHandOver } from "./hand-over.ts";
import type { Holdings } from "./holdings.ts";
import type { Keyspace } from "../storage/keys.ts";
import type { Liveness, ShardTimings } from "./liveness.ts";
import { wantedOwners, type Owner } from "./placement.ts";
import type { Timing } from "../timing.ts";

/** Shares the shards out among the living, as far as it concerns this process. */
export interface Placing {
  /** Looks at the owner map; claims what we should own and nobody alive does, gives away what another should own. */
  look(): Promise<void>;
  /** Does the same by the map as it is known: claims for a map that has moved on are refused. A look has to follow. */
  place(): Promise<void>;
  /** The last look failed, is long ago, or left something to be done by now. */
  isDue(): boolean;
  /** Nothing more is claimed. */
  stop(): void;
  /** After `stop`: hands everything over. */
  giveAll(): Promise<void>;
}

export function createPlacing(deps: {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  timing: Timing;
  timings: ShardTimings;
  shards: readonly number[];
  holdings: Holdings;
  liveness: Liveness;
}): Placing {
  const { incarnation, redis, keys, timing, timings, holdings, liveness } = deps;
  /** Callers who look for an owner load the map all the time, which does not count. */
  let dueAt = Number.NEGATIVE_INFINITY;
  /** Nobody took what was given last, so until then nothing more is. */
  let keepsUntil: number | null = null;
  let isPlacing = false;
  let placeAgain = false;
  let isStopped = false;

  const handOver = createHandOver({
    ...deps,
    hasOthers: () => liveness.hasOthers(),
    isInterrupted: () => placeAgain || isStopped,
    isClaiming: () => isPlacing,
  });

  async function place(): Promise<void> {
    if (isStopped) return;
    placeAgain = isPlacing;
    if (isPlacing) return;
    isPlacing = true;
    try {
      const { toClaim, toRelease } = plan();
      // What one node of the store does not answer to keeps nobody from the rest.
      const [claimed] = await Promise.allSettled([claim(toClaim)]);
      await give(toRelease);
      if (claimed.status === "rejected") throw claimed.reason;
    } finally {
      isPlacing = false;
    }
    if (placeAgain) await place();
  }

  function plan(): { toClaim: number[]; toRelease: number[] } {
    const wantedBy = wantedOwners(liveness.candidates(), deps.shards);
    const toClaim: number[] = [];
    const toRelease: number[] = [];
    for (const [i, shard] of deps.shards.entries()) {
      const wanted = wantedBy[i];
      const owner = holdings.ownerOf(shard);
      const isFree = owner === null || liveness.isGone(owner.incarnation);
      const isOrphan = holdings.isOrphan(shard);
      if (wanted === incarnation && (isFree || isOrphan)) toClaim.push(shard);
      if ((holdings.holds(shard) || isOrphan) && wanted && wanted !== incarnation)
        toRelease.push(shard);
    }
    return { toClaim, toRelease };
  }

  /**
   * Whoever is alive by the store's clock may answer reads without asking, so nobody may write behind its back. A
   * holder that comes back to life after the look is told by its own heartbeat that it was forgotten, and gives
   * everything up before it answers again. All at once, because an heir with much to do comes to each answer late.
   */
  async function claim(shards: number[]): Promise<void> {
    // Remembered from before the look: a record written after it belongs to somebody alive.
    const seen = shards.map((shard) => {
      const owner = holdings.ownerOf(shard);
      return { shard, owner, holder: doubtful(owner) };
    });
    const living = await liveness.heardOf([...new Set(seen.flatMap(({ holder }) => holder ?? []))]);
    if (isStopped) return;
    const { count, error } = await holdings.claim(
      seen.filter(({ holder }) => holder === null || !living.has(holder)),
    );
    if (count > 0) await redis.publish(keys.mapChannel, incarnation);
    if (error !== undefined) throw error;
    if (count === shards.length) return;
    await holdings.reload();
    // Given up between our look and the claim; or a claim sent twice, because its first answer was lost, was
    // refused by its own success.
    const toClaim = new Set(plan().toClaim);
    if (shards.some((shard) => toClaim.has(shard) && doubtful(holdings.ownerOf(shard)) === null))
      placeAgain = true;
  }

  /** Who holds the shard and may yet be alive. */
  function doubtful(owner: Owner | null): string | null {
    if (owner === null || owner.incarnation === incarnation) return null;
    return liveness.isDead(owner.incarnation) ? null : owner.incarnation;
  }

  async function give(shards: number[]): Promise<void> {
    if (keepsUntil !== null && timing.elapsed() < keepsUntil) return;
    const isTaken = await handOver.share(shards);
    keepsUntil = isTaken ? null : timing.elapsed() + timings.deadMs;
  }

  return {
    async look() {
      dueAt = timing.elapsed() + timings.reloadMs;
      try {
        await holdings.reload();
        await place();
      } catch (error) {
        dueAt = Number.NEGATIVE_INFINITY;
        throw error;
      }
    },
    place,
    isDue: () => timing.elapsed() >= Math.min(dueAt, keepsUntil ?? Number.POSITIVE_INFINITY),
    stop() {
      isStopped = true;
    },
    giveAll: () => handOver.leave(),
  };
}
