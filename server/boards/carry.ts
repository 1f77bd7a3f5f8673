import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import {
  listChangesAfter,
  saveCarriedOver,
  takeBoardsTurn,
  type Change,
} from "../../db/queries/board-changes.ts";
import { resolveChanges, type Touched } from "../../db/queries/board-entries.ts";
import { lookAtChanges, type Look } from "../../db/queries/board-look.ts";
import { AppError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Metrics } from "../core/metrics.ts";
import { entriesOf, familyOf, globalFamily, type Family } from "./families.ts";
import {
  closeAll,
  fillBuilt,
  nothing,
  readHeld,
  writeBatch,
  type Held,
  type Update,
} from "./store.ts";

/** Changes carried over at once. */
const turnSize = 2_000;
/**
 * More at once are carried over one process after another, and noted before anybody else goes on: of
 * what is noted later, all is among the oldest `turnSize` that wait.
 */
const smallTurn = 1_000;
/** A Redis that lost more than this is filled anew. */
const maxReplayed = 50_000;
/** Turns lost to others, after which a reader is told to come back. */
const maxRefusals = 32;
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
   * What was committed before the call is in Redis when it resolves, in this batch or a lower one.
   * One call at a time. Throws `server:unavailable` when others never let it. `onSent` is called when
   * the write is on its way: what is asked of Redis next will find it there, unless it is refused.
   */
  carryOver(onSent: () => void): Promise<number>;
  /** Redis may not have what it had: the next turn asks it. */
  forget(): void;
  /** Resolves when all that was carried over is noted. */
  settle(): Promise<void>;
}

/**
 * A turn is one look at Postgres and one write to Redis, which is refused when anybody else wrote since
 * this process last knew what is there. So what is written was read after all that is there already,
 * and no entry goes back in time. That changes are in Redis is noted in Postgres afterwards, while the
 * readers go on: a note that is late or lost only makes them be written again.
 */
export function createCarrier({ redis, em, log, metrics }: CarryOptions): Carrier {
  const notes = createNotes(em, log);
  /** As this process knew Redis last; null = ask it. */
  let known: Held | null = null;

  let isForgotten = false;

  async function carryOver(onSent: () => void): Promise<number> {
    let held = isForgotten ? null : known;
    isForgotten = false;
    let isFresh = false;
    /** How often others were seen to write since what is fresh; the first of them may have looked before. */
    let rises = 0;
    for (let refusals = 0; refusals < maxRefusals;) {
      metrics.boardTurns.inc();
      isFresh ||= held === null;
      const base: Held = held ?? (await readHeld(redis));
      const look = await lookAtChanges(em(), turnSize);
      known = held = null;
      if (!isFresh && !isKnown(base, look)) continue;
      if (look.waiting.length > smallTurn) {
        if (!(await em().transactional((tx) => takeTurnAlone(tx, redis)))) refusals++;
        continue;
      }
      const { isDone, held: found } = await write(em(), redis, { held: base, look, onSent });
      known = held = found;
      if (isDone) notes.add(look);
      if (isDone) return found.batch;
      refusals++;
      rises = isFresh && found.batch > base.batch ? rises + 1 : 0;
      isFresh = true;
      // The last of them began with what was written after this call began.
      if (rises > 1 && found.isWhole) return found.batch;
    }
    throw new AppError("server:unavailable", { params: { retry_after: retryAfterSeconds } });
  }

  return { carryOver, forget: () => void (isForgotten = true), settle: notes.settle };
}

/** Of many changes: nobody else takes such a turn until these are noted. */
async function takeTurnAlone(em: EntityManager, redis: Redis): Promise<boolean> {
  await takeBoardsTurn(em);
  const held = await readHeld(redis);
  const look = await lookAtChanges(em, turnSize);
  const { isDone } = await write(em, redis, { held, look, onSent: () => undefined });
  if (isDone) await saveCarriedOver(em, batchOf(look), idsOf(look));
  return isDone;
}

const idsOf = ({ waiting }: Look) => waiting.map(({ id }) => id);
const batchOf = ({ next, batch }: Look) => next ?? batch;
const isKnown = ({ batch }: Held, look: Look) => batch >= look.batch && batch <= look.highest;

/** Writes what waits, and again what Redis lost since it was written. */
async function write(
  em: EntityManager,
  redis: Redis,
  { held, look, onSent }: { held: Held; look: Look; onSent: () => void },
): Promise<{ isDone: boolean; held: Held }> {
  const lost = isKnown(held, look) ? [] : await listLost(em, held, look);
  // Nothing can be said about what is there: every board is built again when it is asked for.
  if (lost === null) await closeAll(redis);
  const base = lost === null ? nothing : held;
  if (isKnown(held, look) && look.waiting.length === 0) return { isDone: true, held };
  const updates = await listUpdates(em, base.open, { look, lost: lost ?? [] });
  const isWhole = look.waiting.length < turnSize;
  return writeBatch(redis, base, { number: batchOf(look), isWhole, updates }, onSent);
}

async function listLost(em: EntityManager, held: Held, look: Look): Promise<Change[] | null> {
  if (held.batch < 0 || held.batch > look.highest) return null;
  return listChangesAfter(em, held.batch, { limit: maxReplayed });
}

/** The entries of the open boards that were touched, as they are now. */
async function listUpdates(
  em: EntityManager,
  open: readonly string[],
  { look, lost }: { look: Look; lost: readonly Change[] },
): Promise<Update[]> {
  const families = open.flatMap((name) => familyOf(name) ?? []);
  if (families.length === 0) return [];
  // Players and their teams were looked up with the changes.
  const others = look.waiting.filter(({ kind }) => kind !== "player");
  const touched: Touched[] = [
    ...look.waiting.flatMap(({ kind, subjectId: id }) => (kind === "player" ? [{ kind, id }] : [])),
    ...look.teams.map((id) => ({ kind: "team" as const, id })),
    ...(await resolveChanges(em, [...lost, ...others])),
  ];
  const updates: Update[] = [];
  for (const family of families) {
    const ids = idsTouched(family, touched);
    if (ids.length === 0) continue;
    const isSeen = family === globalFamily && lost.length === 0;
    const entries = isSeen ? entriesOf(look.totals) : await family.read(em, { ids });
    updates.push({ family, ids, entries });
  }
  return updates;
}

const idsTouched = (family: Family, touched: readonly Touched[]) => [
  ...new Set(touched.flatMap((one) => family.touchedBy(one) ?? [])),
];

/** One statement at a time, for all turns since the one before. */
function createNotes(em: () => EntityManager, log: Logger) {
  let batch = 0;
  let ids: number[] = [];
  let running: Promise<void> | null = null;
  async function run(): Promise<void> {
    while (ids.length > 0) {
      const given = ids;
      ids = [];
      // They wait on then, and are carried over again.
      await saveCarriedOver(em(), batch, given).catch((error: unknown) =>
        log.warn({ err: error }, "boards: changes not noted"),
      );
    }
  }
  return {
    add(look: Look) {
      batch = Math.max(batch, batchOf(look));
      ids.push(...idsOf(look));
      running ??= run().finally(() => (running = null));
    },
    async settle() {
      await running;
    },
  };
}

/**
 * Brings a board that is being built up to date; true when it is as Postgres has it at a moment after
 * `held` was read. `since` is a batch from before the building, or from the last time.
 */
export async function catchUp(
  em: EntityManager,
  redis: Redis,
  { family, name, since }: { family: Family; name: string; since: number },
): Promise<boolean> {
  const changes = await listChangesAfter(em, since, { limit: maxReplayed, andWaiting: true });
  if (changes === null) return false;
  const ids = idsTouched(family, await resolveChanges(em, changes));
  if (ids.length > 0)
    await fillBuilt(redis, { family, ids, entries: await family.read(em, { ids }) }, name);
  return true;
}
