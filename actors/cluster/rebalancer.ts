import type { Shared } from "../shared.ts";
import { Handoff } from "./handoff.ts";
import type { Membership } from "./membership.ts";
import { targetOwners, type Owner } from "./owners.ts";
import type { Leases } from "./leases.ts";

export interface RebalancerDeps extends Shared {
  leases: Leases;
  membership: Membership;
}

/** Rebalances the shards among the live nodes, as far as this process is concerned. */
export class Rebalancer {
  readonly #deps: RebalancerDeps;
  readonly #handoff: Handoff;
  /** Only rebalances count: callers in search of an owner load the map all the time. */
  #dueAt = Number.NEGATIVE_INFINITY;
  /** After a batch that no node claimed, nothing more is released until this time. */
  #keepsUntil: number | null = null;
  #isPlacing = false;
  #placeAgain = false;
  #isStopped = false;

  constructor(deps: RebalancerDeps) {
    this.#deps = deps;
    this.#handoff = new Handoff({
      ...deps,
      isInterrupted: () => this.#placeAgain || this.#isStopped,
      isClaiming: () => this.#isPlacing,
    });
  }

  /**
   * Loads the owner map, claims shards that belong here and have no live owner, and hands over those that
   * belong elsewhere.
   */
  async rebalance(): Promise<void> {
    const { timing, timings, leases } = this.#deps;
    this.#dueAt = timing.elapsed() + timings.reloadMs;
    try {
      await leases.reload();
      await this.place();
    } catch (error) {
      this.#dueAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  /**
   * Does the same with the cached map: a claim based on an outdated map is refused. A rebalance has to
   * follow.
   */
  async place(): Promise<void> {
    if (this.#isStopped) return;
    this.#placeAgain = this.#isPlacing;
    if (this.#isPlacing) return;
    this.#isPlacing = true;
    try {
      const { toClaim, toRelease } = this.#plan();
      // An unreachable Redis node must not block the rest.
      const [claimed] = await Promise.allSettled([this.#claim(toClaim)]);
      await this.#give(toRelease);
      if (claimed.status === "rejected") throw claimed.reason;
    } finally {
      this.#isPlacing = false;
    }
    if (this.#placeAgain) await this.place();
  }

  /** True if the last rebalance failed, is long ago, or left work that is due now. */
  isDue(): boolean {
    const dueAt = Math.min(this.#dueAt, this.#keepsUntil ?? Number.POSITIVE_INFINITY);
    return this.#deps.timing.elapsed() >= dueAt;
  }

  /** Stops claiming shards. */
  stop(): void {
    this.#isStopped = true;
  }

  /** After `stop`: hands all shards over. */
  drain(): Promise<void> {
    return this.#handoff.drain();
  }

  #plan(): { toClaim: number[]; toRelease: number[] } {
    const { nodeId, shards, leases, membership } = this.#deps;
    const targets = targetOwners(membership.candidates(), shards);
    const toClaim: number[] = [];
    const toRelease: number[] = [];
    for (const [i, shard] of shards.entries()) {
      const target = targets[i];
      const owner = leases.ownerOf(shard);
      const isFree = owner === null || membership.isDown(owner.nodeId);
      const isStale = leases.isStaleLease(shard);
      if (target === nodeId && (isFree || isStale)) toClaim.push(shard);
      if ((leases.holds(shard) || isStale) && target && target !== nodeId) toRelease.push(shard);
    }
    return { toClaim, toRelease };
  }

  /**
   * A node that is alive by the clock of Redis may answer reads without a check, so no other node may write
   * its shards. A holder that revives after the liveness check learns from its own heartbeat that it
   * expired, and releases everything before it answers again. All shards are checked together, because a
   * busy new owner processes each reply late.
   */
  async #claim(shards: number[]): Promise<void> {
    const { membership, leases, redis, keys, nodeId } = this.#deps;
    // Taken before the liveness check: a record written after it belongs to a live node.
    const seen = shards.map((shard) => {
      const owner = leases.ownerOf(shard);
      return { shard, owner, holder: this.#possibleHolder(owner) };
    });
    const holders = new Set(seen.flatMap(({ holder }) => holder ?? []));
    const living = await membership.aliveAmong([...holders]);
    if (this.#isStopped) return;
    const { count, error } = await leases.claim(
      seen.filter(({ holder }) => holder === null || !living.has(holder)),
    );
    if (count > 0) await redis.publish(keys.mapChannel, nodeId);
    if (error !== undefined) throw error;
    if (count === shards.length) return;
    await leases.reload();
    // Shards released between our read and the claim, or a claim sent twice because its first reply was
    // lost: its own success then refused it.
    const toClaim = new Set(this.#plan().toClaim);
    const isFree = (shard: number) => this.#possibleHolder(leases.ownerOf(shard)) === null;
    if (shards.some((shard) => toClaim.has(shard) && isFree(shard))) this.#placeAgain = true;
  }

  /** Another node that owns the shard and may still be alive. */
  #possibleHolder(owner: Owner | null): string | null {
    const { nodeId, membership } = this.#deps;
    if (owner === null || owner.nodeId === nodeId) return null;
    return membership.isDead(owner.nodeId) ? null : owner.nodeId;
  }

  async #give(shards: number[]): Promise<void> {
    const { timing, timings } = this.#deps;
    if (this.#keepsUntil !== null && timing.elapsed() < this.#keepsUntil) return;
    const isTaken = await this.#handoff.share(shards);
    this.#keepsUntil = isTaken ? null : timing.elapsed() + timings.deadMs;
  }
}
