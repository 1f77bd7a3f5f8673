import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import { runScript } from "../storage/scripts.ts";
import type { ShardActors, ShardListener } from "./shard-listener.ts";
import type { ShardOwnership } from "./shard-ownership.ts";

/** Number of shards verified together. */
const chunk = 64;

export interface DataLossDeps {
  redis: Connection;
  keys: Keyspace;
  ownership: Pick<ShardOwnership, "held" | "holds" | "tokenOf">;
  listener: Pick<ShardListener, "suspect">;
  actors: Pick<ShardActors, "suspects" | "markVerified" | "resync">;
}

/**
 * The `master_replid` of Redis changes with every start and when a replica becomes master: writes may be
 * lost at these moments. An owner that outlives one compares its state in memory with Redis, and records
 * the shard as intact if nothing is missing. If a node claims a shard without such a record, numbers of
 * published events may be lost, so its actors skip ahead of them (HUB-06).
 */
export class DataLossDetector {
  readonly #deps: DataLossDeps;
  #history: string | null = null;
  #isChecking = false;
  readonly #suspects = new Set<number>();

  constructor(deps: DataLossDeps) {
    this.#deps = deps;
  }

  /**
   * Compares the current replication id, which is read from Redis unless given, and verifies the shards
   * that are not yet known to be intact.
   */
  async check(known: string | null): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const present = known ?? historiesIn(await this.#deps.redis.info("replication"));
      if (this.#history !== null && present !== this.#history) this.markAllSuspect();
      this.#history = present;
      await this.#verifyAll();
    } finally {
      this.#isChecking = false;
    }
  }

  /** The connection was lost. */
  markAllSuspect(): void {
    this.#deps.listener.suspect();
    for (const shard of this.#deps.ownership.held()) this.#suspects.add(shard);
  }

  /** The shard was claimed again by this same node, after an outage during which others may have owned it. */
  markSuspect(shard: number): void {
    this.#suspects.add(shard);
  }

  /** Whether Redis has kept every write of this owned shard since it was last known to be intact. */
  async isIntact(shard: number): Promise<boolean> {
    const { redis, keys } = this.#deps;
    return (await runScript(redis, "is-intact", [keys.history(shard)], [])) === 1;
  }

  async #verifyAll(): Promise<void> {
    const shards = [...this.#suspects];
    let failure: unknown;
    for (let i = 0; i < shards.length; i += chunk) {
      const part = shards.slice(i, i + chunk).map((shard) => this.#verify(shard));
      for (const end of await Promise.allSettled(part))
        if (end.status === "rejected") failure ??= end.reason;
    }
    if (failure !== undefined) throw failure;
  }

  async #verify(shard: number): Promise<void> {
    const { redis, keys, ownership, actors } = this.#deps;
    const token = ownership.tokenOf(shard);
    if (token === null) {
      if (!ownership.holds(shard)) this.#suspects.delete(shard);
      return;
    }
    const suspects = actors.suspects(shard);
    const known = suspects.filter(({ stamp }) => stamp !== null);
    const isPart = known.length < suspects.length;
    const states = known.map(({ code }) => keys.state(code));
    const names = [keys.owner(shard), keys.history(shard), ...states];
    const args = [token, isPart ? 1 : 0, ...known.map(({ stamp }) => stamp ?? "")];
    const differing = new Set((await runScript(redis, "mark-intact", names, args)) as number[]);
    const verified = known.filter((_, i) => !differing.has(i)).map(({ code }) => code);
    actors.markVerified(shard, verified);
    const isVerified = new Set(verified);
    for (const { code } of suspects) if (!isVerified.has(code)) actors.resync(code);
    if (verified.length === suspects.length) this.#suspects.delete(shard);
  }
}

function historiesIn(info: string): string {
  return Array.from(info.matchAll(/master_replid:(\w+)/g), ([, name]) => name)
    .sort()
    .join();
}
