import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { Clock } from "../../../platform/time/clock.ts";
import { withTimeout, DeadlineError } from "../../../platform/time/deadline.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import type { Metrics } from "../../../platform/metrics/metrics.ts";
import { CoalescedTask } from "../../../platform/tasks/coalesced-task.ts";
import { withLock } from "../../../platform/redis/distributed-lock.ts";
import { LeaderboardProjector } from "./projector.ts";
import { familyOf, type Family } from "./families.ts";
import * as store from "./store.ts";

/** Maximum leaderboards in Redis; beyond it the least recently read one is closed. */
const maxOpen = 256;
/** Idle time after which a leaderboard is closed. */
const idleMs = 6 * 3_600_000;
/** Timeout of a read, mostly for a leaderboard that is being built. */
const readWaitMs = 7_000;
/** Entries per script call, which blocks Redis for a few milliseconds. */
const batchSize = 500;
/** Maximum builds started by one read before it gets 503. */
const maxBegun = 10;

export interface LeaderboardsOptions {
  redis: Redis;
  /** Creates a fork for each use. */
  em: () => EntityManager;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export interface Leaderboards {
  /**
   * Reads a leaderboard in the present state of Postgres. A leaderboard that is not in Redis is built first. Throws
   * `server:unavailable` when that takes long.
   */
  read(asked: store.Question): Promise<store.View>;
  /** Projects pending changes and evicts idle leaderboards. */
  tidy(): Promise<void>;
}

/**
 * Leaderboards of any size: Postgres is the source of truth, Redis has the order
 * (server/features/leaderboards/domain/README.md).
 */
export function createLeaderboards(options: LeaderboardsOptions): Leaderboards {
  return new RedisLeaderboards(options);
}

class RedisLeaderboards implements Leaderboards {
  readonly #options: LeaderboardsOptions;
  readonly #building = new Map<string, Promise<void>>();
  readonly #projector: LeaderboardProjector;
  /** Concurrent readers share one projection run. */
  readonly #projection: CoalescedTask;
  /** Of the last projection run. */
  #batch = 0;

  constructor(options: LeaderboardsOptions) {
    this.#options = options;
    this.#projector = new LeaderboardProjector(options);
    this.#projection = new CoalescedTask(async () => {
      this.#batch = await this.#projector.projectChanges();
    });
  }

  read(asked: store.Question): Promise<store.View> {
    return withTimeout(this.#read(asked, performance.now() + readWaitMs), readWaitMs);
  }

  async tidy(): Promise<void> {
    const { redis, clock } = this.#options;
    await this.#projection.run();
    await this.#projector.whenAcknowledged();
    const now = clock.now();
    for (const [name, readAt] of await store.listOpen(redis)) {
      const family = familyOf(name);
      if (family && now - readAt > idleMs) await store.closeLeaderboard(redis, family);
    }
    // A killed process may have left them.
    for (const name of await store.listBuilding(redis)) {
      const family = familyOf(name);
      if (family) await this.#ensureBuilt(family).catch(() => undefined);
    }
  }

  async #read(asked: store.Question, giveUpAt: number): Promise<store.View> {
    const { redis, clock } = this.#options;
    while (performance.now() < giveUpAt) {
      await this.#projection.run();
      const wanted = this.#batch;
      const view = await store.readView(redis, clock.now(), asked);
      if (view === null) await this.#ensureBuilt(asked.family);
      else if (view.batch >= wanted) return view;
      // Redis lost its last writes in a failover.
      else this.#projector.resetCheckpoint();
    }
    throw new DeadlineError(readWaitMs);
  }

  /** Builds it, or waits while another process does. A timed out reader does not cancel the build. */
  #ensureBuilt(family: Family): Promise<void> {
    const { redis, log } = this.#options;
    const known = this.#building.get(family.name);
    if (known) return known;
    const work = withLock(redis, `board:${family.name}`, () => this.#build(family)).finally(() =>
      this.#building.delete(family.name),
    );
    this.#building.set(family.name, work);
    work.catch((error: unknown) =>
      log.warn(
        { event: "leaderboard_build_failed", err: error, leaderboard: family.name },
        "leaderboard build failed, the next read retries",
      ),
    );
    return work;
  }

  async #build(family: Family): Promise<void> {
    const { redis, em, clock, metrics } = this.#options;
    let begun = 0;
    for (;;) {
      const from = await store.readProgress(redis, family);
      if (from === "open") return;
      if (from === null) {
        if (++begun > maxBegun)
          throw new AppError("server:unavailable", { params: { retry_after: 2 } });
        await this.#makeRoom();
        await store.begin(redis, family);
        continue;
      }
      const entries = await family.read(em(), { after: from, limit: batchSize });
      const isLast = entries.length < batchSize;
      const slice = { from, entries, isLast, now: clock.now() };
      if ((await store.fill(redis, family, slice)) && isLast) metrics.leaderboardBuilds.inc();
    }
  }

  async #makeRoom(): Promise<void> {
    const { redis } = this.#options;
    const open = [...(await store.listOpen(redis))].sort(([, a], [, b]) => a - b);
    for (const [name] of open.slice(0, Math.max(0, open.length - maxOpen + 1))) {
      const family = familyOf(name);
      if (family) await store.closeLeaderboard(redis, family);
    }
  }
}
