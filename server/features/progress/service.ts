import { isDeepStrictEqual } from "node:util";
import { lockPlayer } from "../../../db/queries/accounts/players.ts";
import {
  insertFavorite,
  readFavoriteState,
  type FavoriteState,
  type FavoriteRow,
} from "../../../db/queries/questions/favorites.ts";
import {
  endSession,
  findSession,
  type SessionRow,
} from "../../../db/queries/runs/play-sessions.ts";
import {
  listCategoryProgress,
  listSeen,
  lockPreferences,
  readPreferences,
  readProgress,
  savePreferences,
  type CategoryProgress,
  type Progress,
} from "../../../db/queries/progress/player-progress.ts";
import { AppError } from "../../platform/errors.ts";
import type { ProgressDeps } from "./deps.ts";
import { idleSince } from "../runs/domain/sessions.ts";
import { maxId } from "../../platform/ids.ts";

/** Bounds of TRV-10. */
export const mostFavorites = 1_000;
const mostSeen = 5_000;
const mostKeys = 200;
const mostBytes = 16 * 1_024;

export interface StateView {
  preferences: Record<string, unknown>;
  /** null before the first answer. */
  totals: Progress | null;
  categories: CategoryProgress[];
  seen: number[];
  session: SessionRow | null;
}

/** State with which a client resumes (document 2, Player state; TRV-10). */
export async function readState({ em, clock }: ProgressDeps, playerId: number): Promise<StateView> {
  const preferences = await readPreferences(em, playerId);
  const totals = await readProgress(em, playerId);
  const categories = await listCategoryProgress(em, playerId);
  const seen = await listSeen(em, playerId, mostSeen);
  const session = await findSession(em, { playerId, idleSince: idleSince(clock.now()) });
  return { preferences, totals, categories, seen, session };
}

/** Ends the open play session; without one nothing happens (RUN-01). */
export async function endPlaySession(deps: ProgressDeps, playerId: number): Promise<void> {
  const now = deps.clock.now();
  await deps.em.transactional((em) =>
    endSession(em, { playerId, now: new Date(now), idleSince: idleSince(now) }),
  );
}

/** Merges the keys into the stored ones; a key set to null is stored as null (TRV-10). */
export async function mergePreferences(
  { em }: ProgressDeps,
  playerId: number,
  changes: object,
): Promise<Record<string, unknown>> {
  const seen = await readPreferences(em, playerId);
  const isKept = Object.keys(seen).length > 0 && isDeepStrictEqual(merge(seen, changes), seen);
  if (isKept) return seen;
  return em.transactional(async (inner) => {
    const kept = await lockPreferences(inner, playerId);
    // A token may outlive its player.
    if (kept === null) throw new AppError("auth:token_invalid");
    const merged = merge(kept, changes);
    const json = JSON.stringify(merged);
    checkSize(merged, json);
    await savePreferences(inner, playerId, json);
    return merged;
  });
}

/** Entries, not assignments: a key such as __proto__ is plain data (S18). */
const merge = (kept: object, changes: object): Record<string, unknown> =>
  Object.fromEntries([...Object.entries(kept), ...Object.entries(changes)]);

function checkSize(merged: Record<string, unknown>, json: string): void {
  const isFit = Object.keys(merged).length <= mostKeys && Buffer.byteLength(json) <= mostBytes;
  if (isFit) return;
  const title = `must be at most ${mostKeys} keys and ${mostBytes} bytes of JSON together`;
  throw new AppError("validation:failed", {
    violations: [{ propertyPath: "preferences", title }],
  });
}

/**
 * Stores a favorite question (document 2, Favorites; TRV-10). Throws `question:not_found`, `favorite:exists`,
 * `favorite:limit_reached`.
 */
export async function keepFavorite(
  { em, clock }: ProgressDeps,
  playerId: number,
  questionId: number,
): Promise<FavoriteRow> {
  if (questionId < 1 || questionId > maxId) throw new AppError("question:not_found");
  const favorite = { playerId, questionId, now: new Date(clock.now()) };
  // A refusal takes no lock; the count is exact only under it.
  requireCanAdd(await readFavoriteState(em, favorite));
  return em.transactional(async (inner) => {
    // A token may outlive its player.
    if (!(await lockPlayer(inner, playerId))) throw new AppError("auth:token_invalid");
    requireCanAdd(await readFavoriteState(inner, favorite));
    return insertFavorite(inner, favorite);
  });
}

function requireCanAdd({ isQuestion, isFavorite, count }: FavoriteState): void {
  if (!isQuestion) throw new AppError("question:not_found");
  if (isFavorite) throw new AppError("favorite:exists");
  if (count >= mostFavorites) throw new AppError("favorite:limit_reached");
}
