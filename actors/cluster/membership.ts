import { runScript } from "../log/scripts.ts";
import type { Shared } from "../shared.ts";
import { Signal } from "../signal.ts";
import type { OwnerCause } from "./owner-history.ts";

/** Result of a heartbeat. */
export interface Heartbeat {
  /** Nodes joined, left, or can now be judged: the shards have to be rebalanced. */
  isNews: boolean;
  /** Current replication id of Redis; null for a cluster, where every master has its own. */
  replicationId: string | null;
}

type Reply = [
  known: number,
  members: string[],
  leaving: string[],
  replicationId: string,
  ports: string[],
];

/** After a pause of this node the others get this many heartbeats before they count as dead. */
const graceHeartbeats = 3;
/** Maximum number of remembered dead nodes, so that a late heartbeat reply does not revive one. */
const maxDead = 1_000;
const leavingPrefix = "leaving ";

export const leaveMessage = (nodeId: string) => leavingPrefix + nodeId;

/** Tracks which nodes are alive, by their heartbeats in Redis and their messages. */
export class Membership {
  /**
   * The others may count this node as dead and own its shards. Settled before any state counts as fresh again.
   * `isRetained`: Redis ended before another node could claim the shards, so only Redis can tell whether they are lost.
   * A handler resolves when nothing is in flight under the released tokens, which would become valid again once this
   * node is counted.
   */
  readonly expired = new Signal<[isRetained: boolean]>();
  /** A node is known to be dead, or its heartbeats stopped: commands that wait for it must be redirected. */
  readonly nodeDown = new Signal<[nodeId: string]>();
  /** Dedicated port of this node; null without one. */
  ownPort: number | null = null;
  readonly #deps: Shared;
  #live = new Set<string>();
  /** Dedicated ports of live nodes. */
  #ports = new Map<string, number>();
  readonly #leaving = new Set<string>();
  readonly #dead = new Set<string>();
  /** Nodes that were alive and whose heartbeats stopped. */
  readonly #silent = new Set<string>();
  /** Until then a silent node may be alive, because Redis or this node was down. */
  #graceUntil = Number.NEGATIVE_INFINITY;
  #connectedAt = Number.NEGATIVE_INFINITY;
  #lastHeartbeat = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  /** Redis refused connections while this node counted as alive, and no heartbeat has succeeded since. */
  #hasRedisEnded = false;

  constructor(deps: Shared) {
    this.#deps = deps;
  }

  /** Sends a heartbeat; null if Redis replied nothing usable. */
  async heartbeat(): Promise<Heartbeat | null> {
    const { timing, timings } = this.#deps;
    let sent = timing.elapsed();
    const isFirst = this.#lastHeartbeat < 0;
    let reply = await this.#report(isFirst);
    // The others count this node as dead, or Redis has lost it. Another node may have checked before this
    // heartbeat and may claim its shards after it.
    const isExpired = reply?.[0] === 0 && !isFirst;
    if (isExpired) {
      await this.expired.settle(this.#hasRedisEnded);
      sent = timing.elapsed();
      reply = await this.#report(true);
    }
    if (reply === null) return null;
    const [, members, leaving, replicationId, ports] = reply;
    this.#ports = portsIn(ports);
    this.#lastHeartbeat = sent;
    this.#hasRedisEnded = false;
    const isChanged = this.#see(members, leaving);
    if (isExpired) this.#graceUntil = timing.elapsed() + graceHeartbeats * timings.heartbeatMs;
    const hasWaited = this.#graceUntil > 0 && timing.elapsed() >= this.#graceUntil;
    if (hasWaited) this.#graceUntil = Number.NEGATIVE_INFINITY;
    return {
      isNews: isChanged || hasWaited || isExpired,
      replicationId: this.#deps.redis.isSharded ? null : replicationId,
    };
  }

  /** Reports, immediately and from now on, that this node is leaving. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    // A node that never joined has nothing to report.
    if (this.#lastHeartbeat >= 0) await this.heartbeat();
  }

  /** No other node can have claimed our shards, because the last heartbeat is recent enough. */
  isFresh(): boolean {
    const { timing, timings } = this.#deps;
    const isSinceConnect = this.#lastHeartbeat > this.#connectedAt;
    return isSinceConnect && timing.elapsed() - this.#lastHeartbeat < timings.freshMs;
  }

  /** No other node can count this one as dead yet, because Redis confirmed a recent heartbeat. */
  isConfirmedAlive(): boolean {
    const { timing, timings } = this.#deps;
    return timing.elapsed() - this.#lastHeartbeat < timings.deadMs;
  }

  /** Silent for too long, or known to be dead. */
  isDown(node: string): boolean {
    if (this.#dead.has(node)) return true;
    return !this.#live.has(node) && this.#deps.timing.elapsed() >= this.#graceUntil;
  }

  /** Known to be dead. */
  isDead(node: string): boolean {
    return this.#dead.has(node);
  }

  /** Why the shards of another node need an owner; `isReleased`: it has given them up. */
  causeOf(node: string, isReleased: boolean): OwnerCause {
    const isDead = this.#dead.has(node);
    if (this.#leaving.has(node) || (isReleased && isDead)) return "drained";
    if (isReleased) return "rebalanced";
    if (isDead) return "exited";
    return this.#silent.has(node) ? "frozen" : "recovered";
  }

  /** Dedicated port of a node; null without one, or when the node is leaving and closes it. */
  portOf(node: string): number | null {
    if (this.#leaving.has(node) || this.#dead.has(node)) return null;
    return this.#ports.get(node) ?? null;
  }

  /** The nodes among these that have a recent heartbeat in Redis, read now. */
  async aliveAmong(nodes: string[]): Promise<ReadonlySet<string>> {
    if (nodes.length === 0) return new Set();
    const { redis, keys, timings } = this.#deps;
    const reply = await runScript(redis, "alive", [keys.workers], [timings.deadMs, ...nodes]);
    return new Set(Array.isArray(reply) ? (reply as string[]) : nodes);
  }

  /** Live nodes that accept shards. */
  candidates(): string[] {
    return [...this.#live].filter((node) => !this.#leaving.has(node));
  }

  /** Whether a live node is releasing its shards. */
  hasDrainingMembers(): boolean {
    return this.#leaving.size > 0;
  }

  /** Whether another node accepts shards or may still be alive. */
  hasOthers(): boolean {
    if (this.#deps.timing.elapsed() < this.#graceUntil) return true;
    return this.candidates().some((node) => node !== this.#deps.nodeId);
  }

  /** Handles a message of the `dead` channel; false if it contains nothing new. */
  receive(message: string): boolean {
    const isLeaving = message.startsWith(leavingPrefix);
    const node = isLeaving ? message.slice(leavingPrefix.length) : message;
    if (node === this.#deps.nodeId) return false;
    if (isLeaving) {
      addBounded(this.#leaving, node);
      return true;
    }
    this.#live.delete(node);
    addBounded(this.#dead, node);
    this.nodeDown.emit(node);
    return true;
  }

  /** The connection to Redis was lost or restored. */
  connectionChanged(isUp: boolean): void {
    this.#connectedAt = isUp ? this.#deps.timing.elapsed() : Number.POSITIVE_INFINITY;
  }

  /** Nothing listens at the address of Redis. */
  connectionRefused(): void {
    this.#hasRedisEnded ||= this.isConfirmedAlive();
  }

  /** Applies the lists of live and leaving nodes; returns whether they changed. */
  #see(members: string[], leaving: string[]): boolean {
    const before = this.#live;
    const live = new Set(members.filter((node) => !this.#dead.has(node)));
    this.#live = live;
    const newlyLeaving = leaving.filter((node) => live.has(node) && !this.#leaving.has(node));
    for (const node of newlyLeaving) addBounded(this.#leaving, node);
    for (const node of this.#leaving) if (!live.has(node)) this.#leaving.delete(node);
    for (const node of before)
      if (!live.has(node)) {
        addBounded(this.#silent, node);
        this.nodeDown.emit(node);
      }
    if (newlyLeaving.length > 0) return true;
    return live.size !== before.size || [...live].some((node) => !before.has(node));
  }

  async #report(isNew: boolean): Promise<Reply | null> {
    const { redis, keys, nodeId, timings } = this.#deps;
    const flags = [this.#isLeaving ? 1 : 0, isNew ? 1 : 0];
    const args = [nodeId, timings.deadMs, ...flags, this.ownPort ?? ""];
    const names = [keys.workers, keys.leaving, keys.ports];
    const reply = await runScript(redis, "heartbeat", names, args);
    return Array.isArray(reply) ? (reply as Reply) : null;
  }
}

/** Parses a flat list of nodes and ports. */
function portsIn(list: readonly string[]): Map<string, number> {
  const ports = new Map<string, number>();
  for (let i = 0; i + 1 < list.length; i += 2) ports.set(list[i] ?? "", Number(list[i + 1]));
  return ports;
}

function addBounded(names: Set<string>, name: string): void {
  names.add(name);
  const [oldest] = names;
  if (names.size > maxDead && oldest !== undefined) names.delete(oldest);
}
