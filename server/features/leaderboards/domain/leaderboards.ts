import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type { Clock } from "../../../platform/time/clock.ts";
import { withTimeout, DeadlineError } from "../../../platform/time/deadline.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import type { Metrics } from "../../../platform/metrics/metrics.ts";
import { CoalescedTask } from "../../../platform/cache/coalesced-task.ts";
import { withLock } from "../../../platform/redis/distributed-lock.ts";
import { createLeaderboardProjector } from "./projector.ts";
import { familyOf, type Family } from "./families.ts";
import * as store from "./store.ts";

/** Leaderboards held in Redis at once; past it the one read longest ago is closed. */
const maxOpen = 256;
/** A leaderboard nobody reads is closed after this. */
const idleMs = 6 * 3_600_000;
/** How long a reader waits, mostly for a leaderboard that is being built. */
const readWaitMs = 7_000;
/** Entries in one script call: it blocks Redis for a few milliseconds at most. */
const batchSize = 500;
/** Builds started for one read before it gets 503. */
const maxBegun = 10;

export interface LeaderboardsOptions {
  redis: Redis;
  /** A fork of its own for each use. */
  em: () => EntityManager;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export interface Leaderboards {
  /**
   * Reads a leaderboard as Postgres has it at this moment. A leaderboard that Redis does not have is built first.
   * Throws `server:unavailable` when that takes long.
   */
  read(asked: store.Question): Promise<store.View>;
  /** Projects pending changes; evicts leaderboards nobody reads. */
  tidy(): Promise<void>;
}

/** Leaderboards of any size: Postgres has the truth, Redis the order (server/features/leaderboards/domain/README.md). */
export function createLeaderboards(options: LeaderboardsOptions): Leaderboards {
  const { redis, em, clock, log, metrics } = options;
  const building = new Map<string, Promise<void>>();
  const projector = createLeaderboardProjector({ redis, em, log, metrics });
  let batch = 0;
  /** Concurrent readers share one projection run. */
  const projection = new CoalescedTask(async () => void (batch = await projector.projectChanges()));

  async function build(family: Family): Promise<void> {
    let begun = 0;
    for (;;) {
      const from = await store.readProgress(redis, family);
      if (from === "open") return;
      if (from === null) {
        if (++begun > maxBegun)
          throw new AppError("server:unavailable", { params: { retry_after: 2 } });
        await makeRoom();
        await store.begin(redis, family);
        continue;
      }
      const entries = await family.read(em(), { after: from, limit: batchSize });
      const isLast = entries.length < batchSize;
      const slice = { from, entries, isLast, now: clock.now() };
      if ((await store.fill(redis, family, slice)) && isLast) metrics.leaderboardBuilds.inc();
    }
  }

  async function makeRoom(): Promise<void> {
    const open = [...(await store.listOpen(redis))].sort(([, a], [, b]) => a - b);
    for (const [name] of open.slice(0, Math.max(0, open.length - maxOpen + 1))) {
      const family = familyOf(name);
      if (family) await store.closeLeaderboard(redis, family);
    }
  }

  /** Builds it, or waits while another process does. A timed out reader does not cancel the build. */
  function ensureBuilt(family: Family): Promise<void> {
    const known = building.get(family.name);
    if (known) return known;
    const work = withLock(redis, `board:${family.name}`, () => build(family)).finally(() =>
      building.delete(family.name),
    );
    building.set(family.name, work);
    work.catch((error: unknown) =>
      log.warn(
        { event: "leaderboard_build_failed", err: error, leaderboard: family.name },
        "leaderboard build failed, the next read retries",
      ),
    );
    return work;
  }

  async function read(asked: store.Question, giveUpAt: number): Promise<store.View> {
    while (performance.now() < giveUpAt) {
      await projection.run();
      const wanted = batch;
      const view = await store.readView(redis, clock.now(), asked);
      if (view === null) await ensureBuilt(asked.family);
      else if (view.batch >= wanted) return view;
      // Redis lost its last seconds.
      else projector.resetCheckpoint();
    }
    throw new DeadlineError(readWaitMs);
  }

  return {
    read: (asked) => withTimeout(read(asked, performance.now() + readWaitMs), readWaitMs),
    async tidy() {
      await projection.run();
      await projector.whenAcknowledged();
      const now = clock.now();
      for (const [name, readAt] of await store.listOpen(redis)) {
        const family = familyOf(name);
        if (family && now - readAt > idleMs) await store.closeLeaderboard(redis, family);
      }
      // A process that was killed may have left them.
      for (const name of await store.listBuilding(redis)) {
        const family = familyOf(name);
        if (family) await ensureBuilt(family).catch(() => undefined);
      }
    },
  };
}
