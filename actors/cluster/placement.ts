import type { ActorMetrics, Count } from "../../../server/platform/metrics/actor-metrics.ts";
import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import type { Cancel, Timing } from "../timing.ts";
import { DataLossDetector } from "./data-loss.ts";
import { leaveMessage, Membership, type ShardTimings } from "./membership.ts";
import {
  handoffCauses,
  takeoverCauses,
  takeoversIn,
  type OwnerCause,
  type Takeover,
} from "./owner-history.ts";
import type { Owner } from "./owners.ts";
import { Rebalancer } from "./rebalancer.ts";
import type { ShardActors, ShardListener } from "./shard-listener.ts";
import { ShardOwnership } from "./shard-ownership.ts";

export interface PlacementDeps {
  kind: string;
  nodeId: string;
  processName: string;
  /** Dedicated port of this node; null without one. */
  ownPort: () => number | null;
  redis: Connection;
  keys: Keyspace;
  log: Logger;
  timings: ShardTimings;
  timing: Timing;
  /** The shards shared by all nodes. */
  shards: readonly number[];
  listener: ShardListener;
  actors: ShardActors;
  /** The owner map was loaded again. */
  onMapLoaded: () => void;
  /** A node is known to be dead: commands waiting for it must be redirected. */
  onNodeDown: (nodeId: string) => void;
  /** This node owns shards of another one, which did not hand them over; returns at once. */
  onTakeover: (takeover: Takeover) => void;
  metrics: Pick<ActorMetrics, "takeover" | "handoff">;
  /** Resolves when no commit is in flight. */
  untilCommitsSettle: () => Promise<void>;
}

/** Changes of the owner map within this time are loaded together. */
const debounceMs = 5;

/** They begin at 0, so that the first takeover is an increase. */
function countersOf({ takeover, handoff }: PlacementDeps["metrics"]) {
  const takeovers = takeoverCauses.map((cause) => [cause, takeover(cause)] as const);
  const handoffs = handoffCauses.map((cause) => [cause, handoff(cause)] as const);
  const counters = new Map<OwnerCause, Count>([...takeovers, ...handoffs]);
  for (const counter of counters.values()) counter.inc(0);
  return counters;
}

/** The shards of this process, and the owners of the others. */
export class Placement {
  readonly #deps: PlacementDeps;
  readonly #ownership: ShardOwnership;
  readonly #dataLoss: DataLossDetector;
  readonly #membership: Membership;
  readonly #rebalancer: Rebalancer;
  /** Counters of the shards that another node had before. */
  readonly #claims: ReadonlyMap<OwnerCause, Count>;
  #leaving: Promise<void> | null = null;
  #stopHeartbeats: Cancel | null = null;
  #isSending = false;
  #debounce: Cancel | null = null;

  constructor(deps: PlacementDeps) {
    this.#deps = deps;
    this.#claims = countersOf(deps.metrics);
    this.#ownership = new ShardOwnership({
      ...deps,
      listener: {
        acquired: (shard, isRetained, deadlines) => {
          if (isRetained) this.#dataLoss.markSuspect(shard);
          deps.listener.acquired(shard, isRetained, deadlines);
        },
        released: (shard, isRetained) => deps.listener.released(shard, isRetained),
      },
      causeOf: (node, isReleased) => this.#membership.causeOf(node, isReleased),
      onClaimed: (claimed) => {
        for (const { cause } of claimed) this.#claims.get(cause)?.inc();
        for (const takeover of takeoversIn(deps.kind, claimed)) deps.onTakeover(takeover);
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
    const heartbeat = await this.#membership.heartbeat();
    await this.#dataLoss.check(heartbeat?.replicationId ?? null);
    if (this.#leaving) return;
    await this.#rebalancer.rebalance();
    if (!this.#leaving)
      this.#stopHeartbeats = timing.every(timings.heartbeatMs, () => this.#heartbeatOnce());
  }

  /** Hands all shards over, batch by batch; afterwards the owner map is kept up to date. */
  stop(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** The shards released here get no new owner, because all other nodes are leaving too. */
  isLast(): boolean {
    return this.#leaving !== null && !this.#membership.hasOthers();
  }

  get owned(): number {
    return this.#ownership.count;
  }

  /** Token under which this process may commit, or null if it does not own the shard. */
  tokenOf(shard: number): string | null {
    return this.#ownership.tokenOf(shard);
  }

  /** Increases when Redis may have lost writes of the shard that no node can verify; for an owned shard. */
  generationOf(shard: number): number {
    return this.#ownership.generationOf(shard);
  }

  /** Whether Redis has kept every write of this owned shard since it was last known to be intact. */
  isIntact(shard: number): Promise<boolean> {
    return this.#dataLoss.isIntact(shard);
  }

  /** The node that owns the shard; null without an owner or if it is known to be dead. */
  ownerOf(shard: number): Owner | null {
    const owner = this.#ownership.ownerOf(shard);
    // A dead node's connections may persist for a while, so commands to it would wait for the timeout.
    return owner === null || this.#membership.isDead(owner.nodeId) ? null : owner;
  }

  /** Dedicated port of the node that owns a shard; null without one. */
  ownerPort(shard: number): number | null {
    const owner = this.ownerOf(shard);
    return owner === null ? null : this.#membership.portOf(owner.nodeId);
  }

  /** True if a read may be served, because this process is still the owner. */
  async confirm(shard: number): Promise<boolean> {
    if (this.#membership.isFresh()) return this.#ownership.holds(shard);
    return this.#ownership.confirm(shard);
  }

  /** No other node can count this one as dead yet. */
  isConfirmedAlive(): boolean {
    return this.#membership.isConfirmedAlive();
  }

  /** Redis refused this token: another node owns the shard. */
  fenced(shard: number, token: string): void {
    this.#ownership.lose(shard, token);
    this.#mapChanged();
  }

  /** Loads the owner map as of now or later; calls during a load share the next one. */
  reload(): Promise<void> {
    return this.#ownership.reload();
  }

  /** The connection to Redis was lost or restored: earlier knowledge has to be verified again. */
  connectionChanged(isUp: boolean): void {
    this.#membership.connectionChanged(isUp);
    if (!isUp) return;
    // A restored Redis may be behind the state in memory, including deadlines.
    this.#dataLoss.markAllSuspect();
    if (this.#stopHeartbeats) this.#heartbeatOnce();
    this.#guard(this.#ownership.readDeadlines(), "deadlines");
    this.#mapChanged();
  }

  /** Nothing listens at the address of Redis. */
  connectionRefused(): void {
    this.#membership.connectionRefused();
  }

  /** The subscription is active again, and messages may have been missed. */
  resumed(): void {
    this.#mapChanged();
  }

  /** A message of the `map` or the `dead` channel. */
  receive(channel: string, message: string): void {
    const { keys, nodeId } = this.#deps;
    if (channel === keys.mapChannel && message !== nodeId) this.#mapChanged();
    if (channel !== keys.deadChannel || !this.#membership.receive(message)) return;
    this.#guard(this.#rebalancer.place(), "death");
    this.#mapChanged();
  }

  async #heartbeat(): Promise<void> {
    const heartbeat = await this.#membership.heartbeat();
    // After the heartbeat, because an expired node must release its shards before it may vouch for anything.
    if (heartbeat) this.#guard(this.#dataLoss.check(heartbeat.replicationId), "history");
    // Not awaited: a rebalance may take seconds, and a node that misses heartbeats counts as dead. Messages
    // announce the shards a leaving node releases, but may be missed.
    const isDue = this.#membership.hasDrainingMembers() || this.#rebalancer.isDue();
    if (heartbeat?.isNews || isDue) this.#guard(this.#rebalancer.rebalance(), "rebalance");
  }

  #guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (this.#leaving) return;
      const facts = { event: "rebalance_failed", reason: String(error), what };
      this.#deps.log.warn(facts, "shard placement failed, retrying");
    });
  }

  #heartbeatOnce(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    const heartbeat = this.#heartbeat().finally(() => {
      this.#isSending = false;
    });
    this.#guard(heartbeat, "heartbeat");
  }

  #mapChanged(): void {
    this.#debounce ??= this.#deps.timing.after(debounceMs, () => {
      this.#debounce = null;
      this.#guard(this.#rebalancer.rebalance(), "map");
    });
  }

  async #leave(): Promise<void> {
    const { redis, keys, nodeId } = this.#deps;
    this.#rebalancer.stop();
    // The message arrives first; the heartbeats inform nodes that missed it.
    await Promise.all([
      this.#attempt(() => this.#membership.leave()),
      this.#attempt(() => redis.publish(keys.deadChannel, leaveMessage(nodeId))),
    ]);
    await this.#attempt(() => this.#rebalancer.drain());
    // Not earlier: without heartbeats this node would count as dead, and its shards would be claimed instead
    // of handed over.
    this.#stopHeartbeats?.();
    this.#stopHeartbeats = null;
    this.#debounce?.();
    // Nodes that receive the last message claim the remaining shards immediately.
    this.#ownership.loseAll(false);
    await Promise.all([
      this.#attempt(() => redis.zrem(keys.workers, nodeId)),
      this.#attempt(() => redis.publish(keys.deadChannel, nodeId)),
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
