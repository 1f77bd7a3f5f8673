import type { Shared } from "../shared.ts";
import type { Leases } from "./leases.ts";
import type { Membership } from "./membership.ts";

/** One batch of shards changes owner at a time, while the rest is served as usual. */
const batchCount = 10;
/** A node that stays reclaims a batch that no other node has claimed within this time. */
const batchWaitMs = 500;
/**
 * Total time a leaving node waits for the others. They then claim the rest like the shards of a dead node.
 */
const leaveMs = 5_000;
const pollMs = 10;

export interface HandoffDeps extends Shared {
  leases: Leases;
  membership: Membership;
  /** The owner map has changed, so the remaining shards may have other targets. */
  isInterrupted: () => boolean;
  /** Claims are in progress, so more shards to release may follow. */
  isClaiming: () => boolean;
}

/** Hands shards of this process over to other nodes. */
export class Handoff {
  readonly #deps: HandoffDeps;
  readonly #batchSize: number;
  /** Released shards of the last batch that no node has claimed yet, and when they were released. */
  #free: number[] = [];
  #freeSince = 0;

  constructor(deps: HandoffDeps) {
    this.#deps = deps;
    this.#batchSize = Math.ceil(deps.shards.length / batchCount);
  }

  /** Hands shards over until interrupted; false if no node claimed a batch. */
  async share(shards: number[]): Promise<boolean> {
    const { timing, isInterrupted } = this.#deps;
    for (let given = 0; ; given += this.#batchSize) {
      while (!(await this.#isTaken())) {
        if (isInterrupted()) return true;
        if (timing.elapsed() - this.#freeSince >= batchWaitMs) {
          await this.#takeBack();
          return false;
        }
        await this.#pause();
      }
      if (given >= shards.length || isInterrupted()) return true;
      await this.#give(shards.slice(given, given + this.#batchSize));
    }
  }

  /** Releases everything and waits until it is claimed; retries on Redis errors. */
  async drain(): Promise<void> {
    const { timing, leases } = this.#deps;
    const end = timing.elapsed() + leaveMs;
    let reason: unknown = "nobody takes them";
    while (timing.elapsed() < end) {
      try {
        if (await this.#giveNext()) return;
      } catch (error) {
        reason = error;
      }
      await this.#pause();
    }
    throw new Error(`${leases.recorded().length} shards are left: ${String(reason)}`);
  }

  #pause(): Promise<void> {
    return new Promise((done) => void this.#deps.timing.after(pollMs, done));
  }

  async #give(batch: number[]): Promise<void> {
    const { leases, timing, redis, keys, nodeId } = this.#deps;
    this.#free = batch;
    const ends = await Promise.allSettled(batch.map((shard) => leases.release(shard)));
    this.#freeSince = timing.elapsed();
    await redis.publish(keys.mapChannel, nodeId);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async #isTaken(): Promise<boolean> {
    const { redis, keys } = this.#deps;
    if (this.#free.length === 0) return true;
    const records = await redis.mget(this.#free.map(keys.owner));
    this.#free = this.#free.filter((_, i) => records[i] === "" || records[i] === undefined);
    return this.#free.length === 0;
  }

  async #takeBack(): Promise<void> {
    const { leases, redis, keys, nodeId } = this.#deps;
    const { count } = await leases.claim(this.#free.map((shard) => ({ shard, owner: null })));
    this.#free = [];
    if (count > 0) await redis.publish(keys.mapChannel, nodeId);
  }

  /** Releases the next batch once the last one is claimed; true if nothing is left. */
  async #giveNext(): Promise<boolean> {
    if (this.#deps.isClaiming()) return false;
    const hasOthers = this.#deps.membership.hasOthers();
    if (hasOthers && !(await this.#isTaken())) return false;
    const left = this.#deps.leases.recorded();
    if (left.length === 0) return true;
    await this.#give(hasOthers ? left.slice(0, this.#batchSize) : left);
    return false;
  }
}
