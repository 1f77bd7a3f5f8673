import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import type { Cancel, Timing } from "../timing.ts";
import { DataLossDetector } from "./data-loss.ts";
import { leaveMessage, Membership, type ShardTimings } from "./membership.ts";
import type { Owner } from "./owners.ts";
import { Rebalancer } from "./rebalancer.ts";
import type { ShardActors, ShardListener } from "./shard-listener.ts";
import { ShardOwnership } from "./shard-ownership.ts";

export interface PlacementDeps {
  incarnation: string;
  /** Dedicated port of this node; null without one. */
  ownPort: () => number | null;
  redis: Connection;
  keys: Keyspace;
  log: Logger;
  timings: ShardTimings;
  timing: Timing;
  /** The shards to share out. */
  shards: readonly number[];
  listener: ShardListener;
  actors: ShardActors;
  /** The owner map was read anew. */
  onMapLoaded: () => void;
  /** A node is gone for certain: what waits for it must go elsewhere. */
  onNodeDown: (incarnation: string) => void;
  /** Resolves when no commit is on its way. */
  untilCommitsSettle: () => Promise<void>;
}

/** Changes of the owner map that come together are read together. */
const debounceMs = 5;

/** The shards of this process, and which node owns the others. */
export class Placement {
  readonly #deps: PlacementDeps;
  readonly #ownership: ShardOwnership;
  readonly #dataLoss: DataLossDetector;
  readonly #membership: Membership;
  readonly #rebalancer: Rebalancer;
  #leaving: Promise<void> | null = null;
  #stopHeartbeats: Cancel | null = null;
  #isBeating = false;
  #debounce: Cancel | null = null;

  constructor(deps: PlacementDeps) {
    this.#deps = deps;
    this.#ownership = new ShardOwnership({
      ...deps,
      listener: {
        acquired: (shard, isRetained, deadlines) => {
          if (isRetained) this.#dataLoss.markSuspect(shard);
          deps.listener.acquired(shard, isRetained, deadlines);
        },
        released: (shard, isRetained) => deps.listener.released(shard, isRetained),
      },
    });
    const ownership = this.#ownership;
    this.#dataLoss = new DataLossDetector({ ...deps, ownership });
    this.#membership = new Membership({
      ...deps,
      async onExpired(isRetained) {
        ownership.loseAll(isRetained);
        await deps.untilCommitsSettle();
      },
    });
    this.#rebalancer = new Rebalancer({ ...deps, ownership, membership: this.#membership });
  }

  async start(): Promise<void> {
    const { timing, timings } = this.#deps;
    if (this.#leaving) return;
    const beat = await this.#membership.heartbeat();
    await this.#dataLoss.check(beat?.replicationId ?? null);
    if (this.#leaving) return;
    await this.#rebalancer.rebalance();
    if (!this.#leaving)
      this.#stopHeartbeats = timing.every(timings.heartbeatMs, () => this.#beatOnce());
  }

  /** Gives all shards to the others, batch by batch; the owner map is kept up to date after it. */
  stop(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** What this process gave up has no owner, and gets none: it leaves, and so do all the others. */
  isLast(): boolean {
    return this.#leaving !== null && !this.#membership.hasOthers();
  }

  get owned(): number {
    return this.#ownership.count;
  }

  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null {
    return this.#ownership.tokenOf(shard);
  }

  /** Grows when Redis may have lost something of the shard that nobody can know; of a shard of ours. */
  generationOf(shard: number): number {
    return this.#ownership.generationOf(shard);
  }

  /** Redis has lost nothing of this shard of ours since it was last known to be intact. */
  isIntact(shard: number): Promise<boolean> {
    return this.#dataLoss.isIntact(shard);
  }

  /** The node to ask; null while no node has it, or one that is dead for certain. */
  ownerOf(shard: number): Owner | null {
    const owner = this.#ownership.ownerOf(shard);
    // Its connections may outlive it for a while: what is sent to it waits for the time-out.
    return owner === null || this.#membership.isDead(owner.incarnation) ? null : owner;
  }

  /** Dedicated port of the node that owns a shard; null without one. */
  ownerPort(shard: number): number | null {
    const owner = this.ownerOf(shard);
    return owner === null ? null : this.#membership.portOf(owner.incarnation);
  }

  /** True when a read may be served: this process is certainly still the owner. */
  async confirm(shard: number): Promise<boolean> {
    if (this.#membership.isFresh()) return this.#ownership.holds(shard);
    return this.#ownership.confirm(shard);
  }

  /** No other node can count this one as dead yet. */
  isConfirmedAlive(): boolean {
    return this.#membership.isConfirmedAlive();
  }

  /** Redis refused this token: another node owns the shard now. */
  fenced(shard: number, token: string): void {
    this.#ownership.lose(shard, token);
    this.#mapChanged();
  }

  /** Loads the owner map anew, as it is after this call; calls during a load share the next one. */
  reload(): Promise<void> {
    return this.#ownership.reload();
  }

  /** The connection to Redis went or came: what was certain before has to be seen anew. */
  connectionChanged(isUp: boolean): void {
    this.#membership.connectionChanged(isUp);
    if (!isUp) return;
    // A Redis that came back may be older than what is in memory, its deadlines too.
    this.#dataLoss.markAllSuspect();
    if (this.#stopHeartbeats) this.#beatOnce();
    this.#guard(this.#ownership.readDeadlines(), "deadlines");
    this.#mapChanged();
  }

  /** Nothing listens at the address of Redis. */
  connectionRefused(): void {
    this.#membership.connectionRefused();
  }

  /** Messages are heard again, and some may have been missed. */
  resumed(): void {
    this.#mapChanged();
  }

  /** A message of the `map` or the `dead` channel. */
  receive(channel: string, message: string): void {
    const { keys, incarnation } = this.#deps;
    if (channel === keys.mapChannel && message !== incarnation) this.#mapChanged();
    if (channel !== keys.deadChannel || !this.#membership.receive(message)) return;
    this.#guard(this.#rebalancer.place(), "death");
    this.#mapChanged();
  }

  async #heartbeat(): Promise<void> {
    const beat = await this.#membership.heartbeat();
    // After it, because an expired node has to give up what it holds before it may vouch for anything.
    if (beat) this.#guard(this.#dataLoss.check(beat.replicationId), "history");
    // Not awaited: a rebalance may take seconds, and a node that misses heartbeats counts as dead. A message tells
    // what a leaving node releases, which may be missed.
    const isDue = this.#membership.hasDrainingMembers() || this.#rebalancer.isDue();
    if (beat?.isNews || isDue) this.#guard(this.#rebalancer.rebalance(), "rebalance");
  }

  #guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (this.#leaving) return;
      const facts = { event: "rebalance_failed", reason: String(error), what };
      this.#deps.log.warn(facts, "shard placement failed, retrying");
    });
  }

  #beatOnce(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    const beat = this.#heartbeat().finally(() => {
      this.#isBeating = false;
    });
    this.#guard(beat, "heartbeat");
  }

  #mapChanged(): void {
    this.#debounce ??= this.#deps.timing.after(debounceMs, () => {
      this.#debounce = null;
      this.#guard(this.#rebalancer.rebalance(), "map");
    });
  }

  async #leave(): Promise<void> {
    const { redis, keys, incarnation } = this.#deps;
    this.#rebalancer.stop();
    // The message is heard sooner, and the heartbeats tell it to those whom it does not reach.
    await Promise.all([
      this.#attempt(() => this.#membership.leave()),
      this.#attempt(() => redis.publish(keys.deadChannel, leaveMessage(incarnation))),
    ]);
    await this.#attempt(() => this.#rebalancer.drain());
    // Not before: a silent node counts as dead, and its shards are taken instead of handed over.
    this.#stopHeartbeats?.();
    this.#stopHeartbeats = null;
    this.#debounce?.();
    // The nodes that hear the last message take what is left at once.
    this.#ownership.loseAll(false);
    await Promise.all([
      this.#attempt(() => redis.zrem(keys.workers, incarnation)),
      this.#attempt(() => redis.publish(keys.deadChannel, incarnation)),
    ]);
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const facts = { event: "handoff_failed", reason: String(error) };
      this.#deps.log.warn(facts, "shard handoff failed, continuing");
    }
  }
}
