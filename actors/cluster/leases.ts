import { CoalescedTask } from "../../server/platform/tasks/coalesced-task.ts";
import { runScript } from "../log/scripts.ts";
import type { Shared } from "../shared.ts";
import { Signal } from "../signal.ts";
import type { Membership } from "./membership.ts";
import { keptOwners, type ClaimedShard, type OwnerCause } from "./owner-history.ts";
import { parseOwner, type Owner } from "./owners.ts";

export interface LeasesDeps extends Pick<
  Shared,
  "nodeId" | "redis" | "keys" | "shards" | "metrics"
> {
  /** Name of this process, without spaces, in the list of a shard's owners. */
  processName: string;
  membership: Pick<Membership, "causeOf" | "isDead" | "isFresh" | "portOf">;
}

/** When a room has to be ticked. */
export interface Deadline {
  code: string;
  due: number;
}

export interface Claimed {
  count: number;
  /** The first error, if any. */
  error: unknown;
}

/** The owner map as last read, and the shards of this process. */
export class Leases {
  /**
   * A shard was acquired. `isRetained`: this process owned it before and nobody else has since. `deadlines`: those
   * stored in Redis for its rooms.
   */
  readonly acquired = new Signal<
    [shard: number, isRetained: boolean, deadlines: readonly Deadline[]]
  >();
  /**
   * A shard was released or lost. `isRetained`: perhaps no other node claims it, so what is known of its rooms is kept.
   */
  readonly released = new Signal<[shard: number, isRetained: boolean]>();
  /** A shard is about to be released, which waits for the handlers. */
  readonly closing = new Signal<[shard: number]>();
  /** A deadline of an owned shard was read again. */
  readonly restored = new Signal<[code: string, due: number]>();
  /** The owner map was loaded again. */
  readonly mapLoaded = new Signal();
  /** Shards were claimed together. */
  readonly claimed = new Signal<[shards: readonly ClaimedShard[]]>();
  /** Redis refused a commit, because another node owns the shard. */
  readonly overtaken = new Signal();
  readonly #deps: LeasesDeps;
  readonly #ownerKeys: string[];
  readonly #owners: (Owner | null)[] = [];
  /** The last known owner of each shard, also after its release. */
  readonly #lastOwners: (string | undefined)[] = [];
  /** Shard -> fencing token, and its generation at the claim. */
  readonly #leases = new Map<number, { token: string; generation: number }>();
  /** Shards that are being released. */
  readonly #closing = new Set<number>();
  /** Shards lost together with the connection to Redis, with the tokens under which they were owned. */
  readonly #retained = new Map<number, string>();
  /** Shards claimed or released while the map is loading; on a cluster it comes from several nodes. */
  readonly #changed = new Set<number>();
  readonly #loads: CoalescedTask;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
    this.#ownerKeys = deps.shards.map(deps.keys.owner);
    this.#loads = new CoalescedTask(() => this.#load());
  }

  get count(): number {
    return this.#leases.size;
  }

  /** Token under which this process may commit, or null if it does not own the shard. */
  tokenOf(shard: number): string | null {
    return this.#closing.has(shard) ? null : (this.#leases.get(shard)?.token ?? null);
  }

  /** Increases when Redis may have lost writes of the shard that no node can verify; for an owned shard. */
  generationOf(shard: number): number {
    return this.#leases.get(shard)?.generation ?? 0;
  }

  /** The owner as last read, dead or alive. */
  ownerOf(shard: number): Owner | null {
    return this.#owners[shard] ?? null;
  }

  /** The node that owns the shard; null without an owner or if it is known to be dead. */
  liveOwnerOf(shard: number): Owner | null {
    const owner = this.ownerOf(shard);
    // A dead node's connections may persist for a while, so commands to it would wait for the timeout.
    return owner === null || this.#deps.membership.isDead(owner.nodeId) ? null : owner;
  }

  /** Dedicated port of the node that owns the shard; null without one. */
  portOf(shard: number): number | null {
    const owner = this.liveOwnerOf(shard);
    return owner === null ? null : this.#deps.membership.portOf(owner.nodeId);
  }

  holds(shard: number): boolean {
    return this.#leases.has(shard);
  }

  held(): number[] {
    return [...this.#leases.keys()];
  }

  /**
   * Owned by this process in Redis but not in memory, because the reply to a claim was lost. No other node
   * may claim it while this one lives, so it is claimed again or released.
   */
  isStaleLease(shard: number): boolean {
    return this.#staleToken(shard) !== null;
  }

  /** Shards that Redis records as ours, as far as we know: leases and stale leases. */
  recorded(): number[] {
    return this.#deps.shards.filter(
      (shard) => this.#leases.has(shard) || this.#staleToken(shard) !== null,
    );
  }

  /** Loads the owner map as of now or later; calls during a load share the next one. */
  reload(): Promise<void> {
    return this.#loads.run();
  }

  /** Claims the shards whose owners are unchanged. An unreachable Redis node does not stop the rest. */
  async claim(seen: { shard: number; owner: Owner | null }[]): Promise<Claimed> {
    const ends = await Promise.allSettled(seen.map(({ shard, owner }) => this.#take(shard, owner)));
    const failed = ends.find((end) => end.status === "rejected");
    const claimed = ends.flatMap((end) => (end.status === "fulfilled" && end.value) || []);
    if (claimed.length > 0) this.claimed.emit(claimed);
    return { count: claimed.length, error: failed?.reason };
  }

  /** Drains the shard, then releases it; if Redis fails, a stale lease is left. */
  async release(shard: number): Promise<void> {
    const { redis, keys } = this.#deps;
    const token = this.#leases.get(shard)?.token ?? this.#staleToken(shard);
    if (token === null || this.#closing.has(shard)) return;
    this.#closing.add(shard);
    await this.closing.settle(shard);
    // Lost and claimed again in the meantime, so it is a different lease.
    const present = this.#leases.get(shard);
    if (present && present.token !== token) return;
    this.lose(shard);
    this.#record(shard, null);
    try {
      await runScript(redis, "release", [keys.owner(shard)], [token]);
    } catch (error) {
      this.#owners[shard] ??= parseOwner(token);
      throw error;
    }
    // Only if the map was read before the release.
    if (this.#owners[shard]?.token === token) this.#record(shard, null);
  }

  /** True if a read may be served, because this process is still the owner; without a recent heartbeat Redis is asked. */
  async confirm(shard: number): Promise<boolean> {
    const { redis, keys, membership } = this.#deps;
    if (membership.isFresh()) return this.holds(shard);
    const token = this.#leases.get(shard)?.token;
    if (token === undefined) return false;
    if ((await redis.get(keys.owner(shard))) === token) return true;
    this.lose(shard, token);
    return false;
  }

  /** Whether Redis has kept every write of this owned shard since it was last known to be intact. */
  async isIntact(shard: number): Promise<boolean> {
    const { redis, keys } = this.#deps;
    return (await runScript(redis, "is-intact", [keys.history(shard)], [])) === 1;
  }

  /** Redis refused this token: another node owns the shard. */
  fenced(shard: number, token: string): void {
    this.lose(shard, token);
    this.overtaken.emit();
  }

  /** Reads the stored deadlines of the owned shards again. */
  async readDeadlines(): Promise<void> {
    await Promise.all(this.held().map((shard) => this.#readDeadlines(shard)));
  }

  /** Drops a lease; if a token is given, only the lease under this token. */
  lose(shard: number, token?: string, isRetained = false): void {
    if (token !== undefined && this.#leases.get(shard)?.token !== token) return;
    this.#closing.delete(shard);
    if (this.#leases.delete(shard)) this.#released(shard, isRetained);
  }

  /** Drops all leases; `isRetained`: only Redis can tell whether another node has owned them since. */
  loseAll(isRetained: boolean): void {
    // Repeated before anything was claimed, it retains the same shards.
    if (this.#leases.size > 0 || !isRetained) this.#retained.clear();
    for (const [shard, { token }] of this.#leases) {
      if (isRetained) this.#retained.set(shard, token);
      this.lose(shard, token, isRetained);
    }
  }

  async #load(): Promise<void> {
    const { redis, shards, nodeId } = this.#deps;
    this.#changed.clear();
    const records = await redis.mget(this.#ownerKeys);
    shards.forEach((shard, i) => {
      const record = records[i];
      // For a Redis node that did not reply, the last known owners remain.
      if (record === undefined || this.#changed.has(shard)) return;
      const token = this.#leases.get(shard)?.token;
      const owner = parseOwner(record);
      this.#setOwner(shard, owner);
      if (token !== undefined && token !== record) this.lose(shard);
      // Another node has owned it since, so the retained data is invalid.
      if (owner?.nodeId !== nodeId && this.#retained.delete(shard)) this.#released(shard, false);
    });
    this.mapLoaded.emit();
  }

  #released(shard: number, isRetained: boolean): void {
    this.#deps.metrics.shards.set(this.count);
    this.released.emit(shard, isRetained);
  }

  #staleToken(shard: number): string | null {
    const owner = this.#owners[shard] ?? null;
    const isOurs = owner?.nodeId === this.#deps.nodeId;
    return isOurs && !this.#leases.has(shard) ? owner.token : null;
  }

  #record(shard: number, owner: Owner | null): void {
    this.#setOwner(shard, owner);
    this.#changed.add(shard);
  }

  #setOwner(shard: number, owner: Owner | null): void {
    this.#owners[shard] = owner;
    if (owner) this.#lastOwners[shard] = owner.nodeId;
  }

  #causeOf(shard: number, owner: Owner | null): OwnerCause {
    const { nodeId, membership } = this.#deps;
    const last = owner?.nodeId ?? this.#lastOwners[shard];
    if (last === undefined) return "started";
    return last === nodeId ? "reclaimed" : membership.causeOf(last, owner === null);
  }

  /** Null if the owner has changed. */
  async #take(shard: number, owner: Owner | null): Promise<ClaimedShard | null> {
    const { redis, keys, nodeId, processName, metrics } = this.#deps;
    const { owner: own, epoch, due: dueKey, history, owners } = keys;
    const names = [own, epoch, dueKey, history, owners].map((key) => key(shard));
    const isRetained = owner !== null && this.#retained.get(shard) === owner.token;
    const cause = this.#causeOf(shard, owner);
    const args = [owner?.token ?? "", nodeId, isRetained ? 1 : 0, cause, processName, keptOwners];
    const reply = await runScript(redis, "claim", names, args);
    if (!Array.isArray(reply) || typeof reply[0] !== "string") return null;
    const [token = "", generation, ...due] = reply as string[];
    this.#record(shard, parseOwner(token));
    this.#retained.delete(shard);
    this.#leases.set(shard, { token, generation: Number(generation) });
    const deadlines = deadlinesOf(due);
    metrics.shards.set(this.count);
    this.acquired.emit(shard, isRetained, deadlines);
    return { from: owner?.nodeId ?? null, cause, codes: deadlines.map(({ code }) => code) };
  }

  async #readDeadlines(shard: number): Promise<void> {
    const { redis, keys } = this.#deps;
    const due = await redis.zrange(keys.due(shard), "0", "-1", "WITHSCORES");
    if (!this.#leases.has(shard)) return;
    for (const one of deadlinesOf(due)) this.restored.emit(one.code, one.due);
  }
}

/** Converts a flat list of codes and times. */
function deadlinesOf(list: readonly string[]): Deadline[] {
  const deadlines: Deadline[] = [];
  for (let i = 0; i + 1 < list.length; i += 2)
    deadlines.push({ code: list[i] ?? "", due: Number(list[i + 1]) });
  return deadlines;
}
