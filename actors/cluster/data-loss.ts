import { runScript } from "../log/scripts.ts";
import type { Rooms } from "../rooms.ts";
import type { Shared } from "../shared.ts";
import type { CommitFollowers } from "../wire/commit-followers.ts";
import type { Leases } from "./leases.ts";

/** Number of shards verified together. */
const chunk = 64;

export interface DataLossDeps extends Shared {
  leases: Leases;
  rooms: Rooms;
  followers: CommitFollowers;
}

/**
 * The `master_replid` of Redis changes with every start and when a replica becomes master: writes may be
 * lost at these moments. An owner that outlives one compares its state in memory with Redis, and records
 * the shard as intact if nothing is missing. If a node claims a shard without such a record, numbers of
 * published events may be lost, so its rooms skip ahead of them (HUB-06).
 */
export class DataLossDetector {
  readonly #deps: DataLossDeps;
  #history: string | null = null;
  #isChecking = false;
  readonly #suspects = new Set<number>();

  constructor(deps: DataLossDeps) {
    this.#deps = deps;
    // Claimed again by this same node, after an outage during which others may have owned it.
    deps.leases.acquired.on((shard, isRetained) => {
      if (isRetained) this.#suspects.add(shard);
    });
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
    const { rooms, followers, leases } = this.#deps;
    rooms.suspectAll();
    followers.suspect();
    for (const shard of leases.held()) this.#suspects.add(shard);
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
    const { redis, keys, leases, rooms } = this.#deps;
    const token = leases.tokenOf(shard);
    if (token === null) {
      if (!leases.holds(shard)) this.#suspects.delete(shard);
      return;
    }
    const suspects = rooms.suspects(shard);
    const known = suspects.filter(({ stamp }) => stamp !== null);
    const isPart = known.length < suspects.length;
    const states = known.map(({ code }) => keys.state(code));
    const names = [keys.owner(shard), keys.history(shard), ...states];
    const args = [token, isPart ? 1 : 0, ...known.map(({ stamp }) => stamp ?? "")];
    const differing = new Set((await runScript(redis, "mark-intact", names, args)) as number[]);
    const verified = known.filter((_, i) => !differing.has(i)).map(({ code }) => code);
    rooms.markVerified(shard, verified);
    const isVerified = new Set(verified);
    for (const { code } of suspects) if (!isVerified.has(code)) rooms.resync(code);
    if (verified.length === suspects.length) this.#suspects.delete(shard);
  }
}

function historiesIn(info: string): string {
  return Array.from(info.matchAll(/master_replid:(\w+)/g), ([, name]) => name)
    .sort()
    .join();
}
