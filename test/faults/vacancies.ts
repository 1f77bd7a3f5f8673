import type { ModelRedis } from "./model-redis.ts";
import { ownerKey } from "../support/lobby-keys.ts";

/** Released shards that no worker has claimed yet. */
export class Vacancies {
  readonly #redis: ModelRedis;
  readonly #clock: () => number;
  /** When they were released, and by which worker. */
  readonly #free = new Map<string, { since: number; by: string }>();
  /** Maximum number at one time, and longest duration of one shard, since the last `forget`. */
  #most = 0;
  #longestMs = 0;
  /** A worker released another shard. */
  released: (by: string) => void = () => {};

  constructor(redis: ModelRedis, clock: () => number) {
    this.#redis = redis;
    this.#clock = clock;
    redis.owned = (key, record, before) => this.#see(key, record, before);
  }

  get most(): number {
    return this.#most;
  }

  /** Shards that are still free count with their duration so far. */
  get longestMs(): number {
    return Math.max(this.#longestMs, this.oldestMs);
  }

  /** Of the shards that are free now. */
  get oldestMs(): number {
    return Math.max(0, ...[...this.#free.keys()].map((key) => this.#ageOf(key)));
  }

  /** Number of currently free shards that this worker released. */
  releasedBy(worker: string): number {
    return [...this.#free.values()].filter(({ by }) => by === worker).length;
  }

  /** Shards by owner; "free" are released ones, "nobody's" those never owned. */
  shares(shards: readonly number[]): Record<string, number> {
    const shares: Record<string, number> = {};
    for (const shard of shards) {
      const record = this.#redis.get(ownerKey(shard));
      const owner = record === null ? "nobody's" : record.split("|")[0] || "free";
      shares[owner] = (shares[owner] ?? 0) + 1;
    }
    return shares;
  }

  forget(): void {
    this.#most = this.#free.size;
    this.#longestMs = 0;
  }

  #see(key: string, record: string, before: string): void {
    if (record === "") {
      const by = before.split("|")[0] ?? "";
      this.#free.set(key, { since: this.#clock(), by });
      this.#most = Math.max(this.#most, this.#free.size);
      return this.released(by);
    }
    this.#longestMs = Math.max(this.#longestMs, this.#ageOf(key));
    this.#free.delete(key);
  }

  #ageOf(key: string): number {
    const one = this.#free.get(key);
    return one === undefined ? 0 : this.#clock() - one.since;
  }
}
