import type { EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import {
  listCarriedAfter,
  listWaiting,
  saveCarriedOver,
  takeBoardsTurn,
  type Change,
} from "../../db/queries/board-changes.ts";
import { resolveChanges, type Touched } from "../../db/queries/board-entries.ts";
import { familyOf, type Family } from "./families.ts";
import { applyEntries, beginTurn, closeAll, finishTurn, listOpen } from "./store.ts";

/** Changes carried over in one turn. */
const turnSize = 2_000;
/** A Redis that lost more than this is filled anew. */
const maxReplayed = 50_000;

/**
 * One turn: brings what changed in Postgres to the boards in Redis, and again what Redis lost since.
 * Turns follow one another across all processes. Redis is written first; when the commit after it
 * fails, the changes wait on and are written again, which does no harm. True when more may wait.
 */
export async function carryOver(em: EntityManager, redis: Redis): Promise<boolean> {
  return em.transactional(async (tx) => {
    const { batch: last, trimmed, next } = await takeBoardsTurn(tx);
    const waiting = await listWaiting(tx, turnSize);
    const { held, lost } = await compare(tx, redis, { last, trimmed, next });
    const calls = await applyChanges(tx, redis, next, [...lost, ...waiting]);
    await finishTurn(redis, { held, calls, batch: next });
    await saveCarriedOver(
      tx,
      next,
      waiting.map(({ id }) => id),
    );
    return waiting.length === turnSize;
  });
}

interface Compared {
  /** The last batch Redis has. */
  held: number | null;
  /** What was carried over and Redis does not have. */
  lost: Change[];
}

async function compare(
  em: EntityManager,
  redis: Redis,
  { last, trimmed, next }: { last: number; trimmed: number; next: number },
): Promise<Compared> {
  const held = await beginTurn(redis);
  if (held !== null && held >= last && held < next) return { held, lost: [] };
  const isKnown = held !== null && held >= trimmed && held < next;
  const lost = isKnown ? await listCarriedAfter(em, held, maxReplayed + 1) : null;
  if (lost !== null && lost.length <= maxReplayed) return { held, lost };
  // Nothing can be said about what is there: every board is built again when it is asked for.
  await closeAll(redis);
  return { held: null, lost: [] };
}

/** Returns the number of script calls. */
async function applyChanges(
  em: EntityManager,
  redis: Redis,
  batch: number,
  changes: readonly Change[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const open = await listOpen(redis);
  const families = [...open.keys()].flatMap((name) => familyOf(name) ?? []);
  const touched = await resolveChanges(em, changes);
  let calls = 0;
  for (const family of families)
    calls += await refresh(em, redis, { family, batch, touched, name: family.name });
  return calls;
}

/** Reads the entries that were touched and writes them as they are now. */
async function refresh(
  em: EntityManager,
  redis: Redis,
  change: { family: Family; batch: number; touched: readonly Touched[]; name: string },
): Promise<number> {
  const { family, batch, touched, name } = change;
  const ids = [...new Set(touched.flatMap((one) => family.touchedBy(one) ?? []))];
  if (ids.length === 0) return 0;
  const entries = await family.read(em, { ids });
  return applyEntries(redis, family, batch, { ids, entries, name });
}

/**
 * In a turn of its own: brings a board that was built beside everything up to date, so that it can be
 * opened before the turn ends. `since` is the last batch from before the building began.
 */
export async function catchUp(
  em: EntityManager,
  redis: Redis,
  { family, name, since }: { family: Family; name: string; since: number },
): Promise<boolean> {
  const changes = await listCarriedAfter(em, since, maxReplayed + 1);
  if (changes.length > maxReplayed) return false;
  // What still waits comes with the next turn, when the board is open.
  const touched = await resolveChanges(em, changes);
  await refresh(em, redis, { family, batch: 0, touched, name });
  return true;
}
