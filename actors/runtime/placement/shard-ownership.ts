import { CoalescedTask } from "../../../server/platform/cache/coalesced-task.ts";
import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import { runScript } from "../storage/scripts.ts";
import { parseOwner, type Owner } from "./owners.ts";
import type { Deadline, ShardActors, ShardListener } from "./shard-listener.ts";

export interface ShardOwnershipDeps {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  shards: readonly number[];
  listener: Pick<ShardListener, "acquired" | "released">;
  actors: Pick<ShardActors, "drain" | "restoreDeadline">;
  /** The owner map was read anew. */
  onMapLoaded: () => void;
}

export interface Claimed {
  count: number;
  /** The first error, if there was one. */
  error: unknown;
}

/** The owner map as last seen, and the leases of this process. */
export class ShardOwnership {
  readonly #deps: ShardOwnershipDeps;
  readonly #ownerKeys: string[];
  readonly #owners: (Owner | null)[] = [];
  /** Shard -> fencing token. */
  readonly #leases = new Map<number, string>();
  readonly #closing = new Set<number>();
  readonly #generations = new Map<number, number>();
  /** Shards lost with the connection to Redis, and the tokens under which they were ours. */
  readonly #retained = new Map<number, string>();
  /** Claimed or given up while the map is on its way, which on a cluster comes from several nodes. */
  readonly #changed = new Set<number>();
  readonly #loads: CoalescedTask;

  constructor(deps: ShardOwnershipDeps) {
    this.#deps = deps;
    this.#ownerKeys = deps.shards.map(deps.keys.owner);
    this.#loads = new CoalescedTask(() => this.#load());
  }

  get count(): number {
    return this.#leases.size;
  }

  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null {
    return this.#closing.has(shard) ? null : (this.#leases.get(shard) ?? null);
  }

  /** Grows when Redis may have lost something of the shard that nobody can know; of a shard of ours. */
  generationOf(shard: number): number {
    return this.#generations.get(shard) ?? 0;
  }

  ownerOf(shard: number): Owner | null {
    return this.#owners[shard] ?? null;
  }

  holds(shard: number): boolean {
    return this.#leases.has(shard);
  }

  held(): number[] {
    return [...this.#leases.keys()];
  }

  /**
   * Owned by this process in Redis but not in memory: left over from a claim whose answer was lost. No other node may
   * take it while this one lives, so it is claimed again or given up.
   */
  isStaleLease(shard: number): boolean {
    return this.#staleToken(shard) !== null;
  }

  /** What Redis counts as ours, as far as we know: held, and stale leases. */
  recorded(): number[] {
    return this.#deps.shards.filter(
      (shard) => this.#leases.has(shard) || this.#staleToken(shard) !== null,
    );
  }

  /** Loads the owner map anew, as it is after this call; calls during a load share the next one. */
  reload(): Promise<void> {
    return this.#loads.run();
  }

  /** Takes the shards whose owners are still these; what Redis failed to answer to does not stop the rest. */
  async claim(seen: { shard: number; owner: Owner | null }[]): Promise<Claimed> {
    const ends = await Promise.allSettled(seen.map(({ shard, owner }) => this.#take(shard, owner)));
    const failed = ends.find((end) => end.status === "rejected");
    const count = ends.filter((end) => end.status === "fulfilled" && end.value).length;
    return { count, error: failed?.reason };
  }

  /** Ends what is in flight, then gives the shard up; when Redis fails to, it is left a stale lease. */
  async release(shard: number): Promise<void> {
    const { redis, keys, actors } = this.#deps;
    const token = this.#leases.get(shard) ?? this.#staleToken(shard);
    if (token === null || this.#closing.has(shard)) return;
    this.#closing.add(shard);
    await actors.drain(shard);
    // Lost and claimed again meanwhile: it is another term of office now.
    if (this.#leases.has(shard) && this.#leases.get(shard) !== token) return;
    this.lose(shard);
    this.#record(shard, null);
    try {
      await runScript(redis, "release", [keys.owner(shard)], [token]);
    } catch (error) {
      this.#owners[shard] ??= parseOwner(token);
      throw error;
    }
    // A look that came before the release.
    if (this.#owners[shard]?.token === token) this.#record(shard, null);
  }

  /** Whether Redis still says that the shard is ours. */
  async confirm(shard: number): Promise<boolean> {
    const { redis, keys } = this.#deps;
    const token = this.#leases.get(shard);
    if (token === undefined) return false;
    if ((await redis.get(keys.owner(shard))) === token) return true;
    this.lose(shard, token);
    return false;
  }

  /** Reads the stored deadlines of what is held once more. */
  async readDeadlines(): Promise<void> {
    await Promise.all(this.held().map((shard) => this.#readDeadlines(shard)));
  }

  /** Drops a lease; with a token only while it is held under this one. */
  lose(shard: number, token?: string, isRetained = false): void {
    if (token !== undefined && this.#leases.get(shard) !== token) return;
    this.#closing.delete(shard);
    this.#generations.delete(shard);
    if (this.#leases.delete(shard)) this.#deps.listener.released(shard, isRetained);
  }

  /** Drops all leases; `isRetained`: only Redis can tell whether another node has had them. */
  loseAll(isRetained: boolean): void {
    // Told again before anything was taken, it knows no less.
    if (this.#leases.size > 0 || !isRetained) this.#retained.clear();
    for (const [shard, token] of this.#leases) {
      if (isRetained) this.#retained.set(shard, token);
      this.lose(shard, token, isRetained);
    }
  }

  async #load(): Promise<void> {
    const { redis, shards, incarnation, listener, onMapLoaded } = this.#deps;
    this.#changed.clear();
    const records = await redis.mget(this.#ownerKeys);
    shards.forEach((shard, i) => {
      const record = records[i];
      // Of a node that did not answer, what was known last is as good as any.
      if (record === undefined || this.#changed.has(shard)) return;
      const token = this.#leases.get(shard);
      const owner = parseOwner(record);
      this.#owners[shard] = owner;
      if (token !== undefined && token !== record) this.lose(shard);
      // Another node has had it since, so what is known of it holds no more.
      if (owner?.incarnation !== incarnation && this.#retained.delete(shard))
        listener.released(shard, false);
    });
    onMapLoaded();
  }

  #staleToken(shard: number): string | null {
    const owner = this.#owners[shard] ?? null;
    const isOurs = owner?.incarnation === this.#deps.incarnation;
    return isOurs && !this.#leases.has(shard) ? owner.token : null;
  }

  #record(shard: number, owner: Owner | null): void {
    this.#owners[shard] = owner;
    this.#changed.add(shard);
  }

  async #take(shard: number, owner: Owner | null): Promise<boolean> {
    const { redis, keys, incarnation, listener } = this.#deps;
    const names = [keys.owner(shard), keys.epoch(shard), keys.due(shard), keys.history(shard)];
    const isRetained = owner !== null && this.#retained.get(shard) === owner.token;
    const args = [owner?.token ?? "", incarnation, isRetained ? 1 : 0];
    const reply = await runScript(redis, "claim", names, args);
    if (!Array.isArray(reply) || typeof reply[0] !== "string") return false;
    const [token = "", generation, ...due] = reply as string[];
    this.#record(shard, parseOwner(token));
    this.#retained.delete(shard);
    this.#leases.set(shard, token);
    this.#generations.set(shard, Number(generation));
    listener.acquired(shard, isRetained, deadlinesOf(due));
    return true;
  }

  async #readDeadlines(shard: number): Promise<void> {
    const { redis, keys, actors } = this.#deps;
    const due = await redis.zrange(keys.due(shard), "0", "-1", "WITHSCORES");
    if (!this.#leases.has(shard)) return;
    for (const one of deadlinesOf(due)) actors.restoreDeadline(one.code, one.due);
  }
}

/** From a flat list of codes and times. */
function deadlinesOf(list: readonly string[]): Deadline[] {
  const deadlines: Deadline[] = [];
  for (let i = 0; i + 1 < list.length; i += 2)
    deadlines.push({ code: list[i] ?? "", due: Number(list[i + 1]) });
  return deadlines;
}
