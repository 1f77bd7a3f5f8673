import { ownerKey } from "../../actors/runtime/keys.ts";
import type { ModelRedis } from "./model-redis.ts";

/** Shards that were released and that nobody has claimed yet. */
export class Vacancies {
  readonly #redis: ModelRedis;
  readonly #clock: () => number;
  readonly #since = new Map<string, number>();
  /** The most at one time, and the longest of one shard, since the last `forget`. */
  #most = 0;
  #longestMs = 0;

  constructor(redis: ModelRedis, clock: () => number) {
    this.#redis = redis;
    this.#clock = clock;
    redis.owned = (key, record) => this.#see(key, record);
  }

  get most(): number {
    return this.#most;
  }

  /** Those that are still free count with the time they have been so. */
  get longestMs(): number {
    const open = [...this.#since.keys()].map((key) => this.#ageOf(key));
    return Math.max(this.#longestMs, ...open);
  }

  /** Shards by owner; "free" are those that were released, "nobody's" those never owned. */
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
    this.#most = this.#since.size;
    this.#longestMs = 0;
  }

  #see(key: string, record: string): void {
    if (record === "") {
      this.#since.set(key, this.#clock());
      this.#most = Math.max(this.#most, this.#since.size);
      return;
    }
    this.#longestMs = Math.max(this.#longestMs, this.#ageOf(key));
    this.#since.delete(key);
  }

  #ageOf(key: string): number {
    const since = this.#since.get(key);
    return since === undefined ? 0 : this.#clock() - since;
  }
}
