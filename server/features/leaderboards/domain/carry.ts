import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import {
  lookAtChanges,
  putBack,
  saveCarriedOver,
  type Change,
  type Look,
} from "../../../../db/queries/leaderboards/board-changes.ts";
import { resolveChanges } from "../../../../db/queries/leaderboards/board-entries.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import type { Metrics } from "../../../platform/metrics/metrics.ts";
import { familyOf, teamFamily } from "./families.ts";
import { closeAll, nothing, readHeld, writeBatch, type Held, type Update } from "./store.ts";

/** Changes carried over by one call of a script: a few milliseconds, others wait no longer than that. */
const turnSize = 1_000;
/** Turns lost to others, after which a reader is told to come back. */
const maxTries = 32;
const retryAfterSeconds = 2;

export interface CarryOptions {
  redis: Redis;
  /** A fork of its own for each use. */
  em: () => EntityManager;
  log: Logger;
  metrics: Metrics;
}

export interface Carrier {
  /**
   * What was committed before the call is in Redis when it resolves, in the batch it returns or a lower one.
   * One call at a time. Throws `server:unavailable` when others never let it.
   */
  carryOver(): Promise<number>;
  /** Redis may not have what it had: the next turn asks it. */
  forget(): void;
  /** Resolves when all that was carried over is noted. */
  settle(): Promise<void>;
}

export function createCarrier({ redis, em, log, metrics }: CarryOptions): Carrier {
  /** As this process knew Redis last; null = ask it. */
  let known: Held | null = null;
  let isForgotten = false;
  let noted: Promise<void> = Promise.resolve();

  async function carryOver(): Promise<number> {
    if (isForgotten) known = null;
    isForgotten = false;
    let seen = -1;
    let rises = 0;
    for (let tries = 0; tries < maxTries; tries++) {
      metrics.boardTurns.inc();
      await noted;
      const base = known;
      known = null;
      const held = base ?? (await readHeld(redis));
      if (base === null && held.batch > seen) {
        // Others wrote. The third of them began after the second, and so after this call.
        if (++rises > 2 && held.isWhole) return (known = held).batch;
        seen = held.batch;
      }
      const look = await lookAtChanges(em(), turnSize);
      if (held.batch < look.batch || held.batch > look.highest) {
        if (base === null) known = await makeGood(held, look);
        continue;
      }
      if (look.next === null) return (known = held).batch;
      const updates = await listUpdates(em(), held.boards, look.waiting);
      const isWhole = look.waiting.length < turnSize;
      known = await writeBatch(redis, held, { number: look.next, isWhole, updates });
      if (known === null) continue;
      note(look, look.next);
      if (isWhole) return look.next;
      tries = 0;
    }
    throw new AppError("server:unavailable", { params: { retry_after: retryAfterSeconds } });
  }

  /** Lost changes wait again; when it cannot be said which, every board is built again. */
  async function makeGood(held: Held, { batch, highest, trimmed }: Look): Promise<Held | null> {
    const isRead = held.batch >= 0;
    if (isRead && held.batch >= trimmed && held.batch <= highest) {
      await putBack(em(), held.batch, batch);
      return held;
    }
    if (isRead) await closeAll(redis);
    const write = { number: batch, isWhole: true, updates: [] };
    return writeBatch(redis, isRead ? nothing : held, write);
  }

  /** The readers do not wait for it. A note that is lost only makes the changes be written again. */
  function note({ waiting }: Look, batch: number): void {
    const ids = waiting.map(({ id }) => id);
    noted = saveCarriedOver(em(), batch, ids).catch((error: unknown) =>
      log.warn({ err: error }, "boards: changes not noted"),
    );
  }

  return { carryOver, forget: () => void (isForgotten = true), settle: () => noted };
}

/** The entries of these boards that were touched, as they are now. */
async function listUpdates(
  em: EntityManager,
  boards: readonly string[],
  changes: readonly Change[],
): Promise<Update[]> {
  const families = boards.flatMap((name) => familyOf(name) ?? []);
  if (families.length === 0 || changes.length === 0) return [];
  const touched = await resolveChanges(em, changes, { andTeams: families.includes(teamFamily) });
  const updates: Update[] = [];
  for (const family of families) {
    const ids = [...new Set(touched.flatMap((one) => family.touchedBy(one) ?? []))];
    if (ids.length > 0) updates.push({ family, ids, entries: await family.read(em, { ids }) });
  }
  return updates;
}
