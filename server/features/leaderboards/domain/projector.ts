import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import {
  readPendingChanges,
  requeueChanges,
  saveCheckpoint,
  type Change,
  type PendingChanges,
} from "../../../../db/queries/leaderboards/leaderboard-changes.ts";
import { resolveChanges } from "../../../../db/queries/leaderboards/leaderboard-entries.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import type { Metrics } from "../../../platform/metrics/metrics.ts";
import { familyOf, teamFamily } from "./families.ts";
import {
  closeAll,
  emptyCheckpoint,
  readCheckpoint,
  writeBatch,
  type Checkpoint,
  type Update,
} from "./store.ts";

/** Changes per script call, which blocks Redis for a few milliseconds. */
const batchSize = 1_000;
/** Batches lost to other processes before a reader gets 503 with `retry_after`. */
const maxTries = 32;
const retryAfterSeconds = 2;

export interface LeaderboardProjectorOptions {
  redis: Redis;
  /** Creates a fork for each use. */
  em: () => EntityManager;
  log: Logger;
  metrics: Metrics;
}

/** Projects committed changes from Postgres to the leaderboards in Redis, in batches. */
export class LeaderboardProjector {
  readonly #options: LeaderboardProjectorOptions;
  /** The last known checkpoint of Redis; null = read it first. */
  #known: Checkpoint | null = null;
  #isForgotten = false;
  #acknowledged: Promise<void> = Promise.resolve();

  constructor(options: LeaderboardProjectorOptions) {
    this.#options = options;
  }

  /**
   * When it resolves, Redis has all changes committed before the call, in the returned batch or a lower one. One call
   * at a time. Throws `server:unavailable` after too many conflicts with other processes.
   */
  async projectChanges(): Promise<number> {
    const { redis, em, metrics } = this.#options;
    if (this.#isForgotten) this.#known = null;
    this.#isForgotten = false;
    let seen = -1;
    let rises = 0;
    for (let tries = 0; tries < maxTries; tries++) {
      metrics.leaderboardProjections.inc();
      await this.#acknowledged;
      const base = this.#known;
      this.#known = null;
      const checkpoint = base ?? (await readCheckpoint(redis));
      if (base === null && checkpoint.batch > seen) {
        // Other processes wrote. The third batch began after the second, and so after this call.
        if (++rises > 2 && checkpoint.isWhole) return this.#finish(checkpoint);
        seen = checkpoint.batch;
      }
      const pending = await readPendingChanges(em(), batchSize);
      if (checkpoint.batch < pending.batch || checkpoint.batch > pending.highest) {
        if (base === null) this.#known = await this.#repair(checkpoint, pending);
        continue;
      }
      if (pending.next === null) return this.#finish(checkpoint);
      const updates = await listUpdates(em(), checkpoint.leaderboards, pending.waiting);
      const isWhole = pending.waiting.length < batchSize;
      this.#known = await writeBatch(redis, checkpoint, { number: pending.next, isWhole, updates });
      if (this.#known === null) continue;
      this.#acknowledge(pending, pending.next);
      if (isWhole) return pending.next;
      tries = 0;
    }
    throw new AppError("server:unavailable", { params: { retry_after: retryAfterSeconds } });
  }

  /** Redis may have lost data: the next batch reads its checkpoint again. */
  resetCheckpoint(): void {
    this.#isForgotten = true;
  }

  /** Resolves when all that was projected is acknowledged. */
  whenAcknowledged(): Promise<void> {
    return this.#acknowledged;
  }

  #finish(checkpoint: Checkpoint): number {
    this.#known = checkpoint;
    return checkpoint.batch;
  }

  /** Lost changes are requeued; when they are unknown, every leaderboard is rebuilt. */
  async #repair(
    checkpoint: Checkpoint,
    { batch, highest, trimmed }: PendingChanges,
  ): Promise<Checkpoint | null> {
    const { redis, em } = this.#options;
    const isRead = checkpoint.batch >= 0;
    if (isRead && checkpoint.batch >= trimmed && checkpoint.batch <= highest) {
      await requeueChanges(em(), checkpoint.batch, batch);
      return checkpoint;
    }
    if (isRead) await closeAll(redis);
    const write = { number: batch, isWhole: true, updates: [] };
    return writeBatch(redis, isRead ? emptyCheckpoint : checkpoint, write);
  }

  /** Readers do not wait for it. After a lost acknowledgement the changes are written again. */
  #acknowledge({ waiting }: PendingChanges, batch: number): void {
    const { em, log } = this.#options;
    const ids = waiting.map(({ id }) => id);
    this.#acknowledged = saveCheckpoint(em(), batch, ids).catch((error: unknown) =>
      log.warn(
        { event: "leaderboard_checkpoint_failed", err: error },
        "could not save the leaderboard checkpoint, the changes are projected again",
      ),
    );
  }
}

/** The present state of the changed entries of these leaderboards. */
async function listUpdates(
  em: EntityManager,
  leaderboards: readonly string[],
  changes: readonly Change[],
): Promise<Update[]> {
  const families = leaderboards.flatMap((name) => familyOf(name) ?? []);
  if (families.length === 0 || changes.length === 0) return [];
  const touched = await resolveChanges(em, changes, { andTeams: families.includes(teamFamily) });
  const updates: Update[] = [];
  for (const family of families) {
    const ids = [...new Set(touched.flatMap((one) => family.touchedBy(one) ?? []))];
    if (ids.length > 0) updates.push({ family, ids, entries: await family.read(em, { ids }) });
  }
  return updates;
}
