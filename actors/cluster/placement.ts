import type { Journal } from "../log/journal.ts";
import type { Rooms } from "../rooms.ts";
import type { Shared } from "../shared.ts";
import type { Cancel } from "../timing.ts";
import type { CommitFollowers } from "../wire/commit-followers.ts";
import { DataLossDetector } from "./data-loss.ts";
import type { Leases } from "./leases.ts";
import { leaveMessage, type Membership } from "./membership.ts";
import { handoffCauses, takeoverCauses } from "./owner-history.ts";
import { Rebalancer } from "./rebalancer.ts";

export interface PlacementDeps extends Shared {
  membership: Membership;
  leases: Leases;
  rooms: Rooms;
  followers: CommitFollowers;
  journal: Journal;
}

/** Changes of the owner map within this time are loaded together. */
const debounceMs = 5;

/** They begin at 0, so that the first takeover is an increase. */
function countersOf({ takeover, handoff }: Shared["metrics"]) {
  const counters = new Map([
    ...takeoverCauses.map((cause) => [cause as string, takeover(cause)] as const),
    ...handoffCauses.map((cause) => [cause as string, handoff(cause)] as const),
  ]);
  for (const counter of counters.values()) counter.inc(0);
  return counters;
}

/** Which shards this process claims and gives away, by heartbeats and announcements. */
export class Placement {
  readonly #deps: PlacementDeps;
  readonly #dataLoss: DataLossDetector;
  readonly #rebalancer: Rebalancer;
  #leaving: Promise<void> | null = null;
  #stopHeartbeats: Cancel | null = null;
  #isSending = false;
  #debounce: Cancel | null = null;

  constructor(deps: PlacementDeps) {
    this.#deps = deps;
    const { leases, membership, journal } = deps;
    this.#dataLoss = new DataLossDetector(deps);
    this.#rebalancer = new Rebalancer(deps);
    membership.expired.on(async (isRetained) => {
      leases.loseAll(isRetained);
      await journal.idle();
    });
    leases.overtaken.on(() => this.mapChanged());
    const counters = countersOf(deps.metrics);
    leases.claimed.on((shards) => {
      for (const { cause } of shards) counters.get(cause)?.inc();
    });
  }

  async start(): Promise<void> {
    const { timing, timings } = this.#deps;
    if (this.#leaving) return;
    const heartbeat = await this.#deps.membership.heartbeat();
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
    return this.#leaving !== null && !this.#deps.membership.hasOthers();
  }

  /** The connection to Redis was lost or restored: earlier knowledge has to be verified again. */
  connectionChanged(isUp: boolean): void {
    this.#deps.membership.connectionChanged(isUp);
    if (!isUp) return;
    // A restored Redis may be behind the state in memory, including deadlines.
    this.#dataLoss.markAllSuspect();
    if (this.#stopHeartbeats) this.#heartbeatOnce();
    this.#guard(this.#deps.leases.readDeadlines(), "deadlines");
    this.mapChanged();
  }

  /** A message of the `map` or the `dead` channel. */
  receive(channel: string, message: string): void {
    const { keys, nodeId } = this.#deps;
    if (channel === keys.mapChannel && message !== nodeId) this.mapChanged();
    if (channel !== keys.deadChannel || !this.#deps.membership.receive(message)) return;
    this.#guard(this.#rebalancer.place(), "death");
    this.mapChanged();
  }

  /** The owner map may have changed, as after messages may have been missed. */
  mapChanged(): void {
    this.#debounce ??= this.#deps.timing.after(debounceMs, () => {
      this.#debounce = null;
      this.#guard(this.#rebalancer.rebalance(), "map");
    });
  }

  async #heartbeat(): Promise<void> {
    const heartbeat = await this.#deps.membership.heartbeat();
    // After the heartbeat, because an expired node must release its shards before it may vouch for anything.
    if (heartbeat) this.#guard(this.#dataLoss.check(heartbeat.replicationId), "history");
    // Not awaited: a rebalance may take seconds, and a node that misses heartbeats counts as dead. Messages
    // announce the shards a leaving node releases, but may be missed.
    const isDue = this.#deps.membership.hasDrainingMembers() || this.#rebalancer.isDue();
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

  async #leave(): Promise<void> {
    const { redis, keys, nodeId } = this.#deps;
    this.#rebalancer.stop();
    // The message arrives first; the heartbeats inform nodes that missed it.
    await Promise.all([
      this.#attempt(() => this.#deps.membership.leave()),
      this.#attempt(() => redis.publish(keys.deadChannel, leaveMessage(nodeId))),
    ]);
    await this.#attempt(() => this.#rebalancer.drain());
    // Not earlier: without heartbeats this node would count as dead, and its shards would be claimed instead
    // of handed over.
    this.#stopHeartbeats?.();
    this.#stopHeartbeats = null;
    this.#debounce?.();
    // Nodes that receive the last message claim the remaining shards immediately.
    this.#deps.leases.loseAll(false);
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
