import type { EntityManager } from "@mikro-orm/postgresql";
import { deleteRecords, readEnumValues, saveRecords } from "../queries/gamedata/projection-rows.ts";
import { replaceFacets, saveProjectionState } from "../queries/gamedata/projection-state.ts";
import { facetsOf, labelKeysOf } from "./facets.ts";
import { findStale, makeRecords, readSnapshot, type Snapshot } from "./snapshot.ts";
import { resources } from "./resources/index.ts";

export interface RefreshReport {
  /** Rows projected again because their content changed. */
  made: number;
  removed: number;
}

/**
 * Updates every table to the current state of the game, in the caller's transaction, which holds the game's
 * lock (IMP-05). Rows with unchanged inputs are not touched. For `touched` see `readSnapshot`.
 */
export async function refreshProjection(
  em: EntityManager,
  slug: string,
  touched: readonly string[] | null = null,
): Promise<RefreshReport> {
  const report = { made: 0, removed: 0 };
  const snapshot = await readSnapshot(em, slug, touched);
  if (snapshot === null) return report;
  const known = new Map(snapshot.dirtyRows?.map(({ id, enums }) => [id, JSON.stringify(enums)]));
  let hasNewFacets = snapshot.hasNewTexts;
  for (const resource of resources) {
    const { ids, removed } = await findStale(em, snapshot, resource, false);
    for await (const records of makeRecords(snapshot, resource, ids)) {
      await saveRecords(em, resource, records);
      report.made += records.length;
      hasNewFacets ||= records.some(
        ({ id, enums }) => JSON.stringify(enums) !== known.get(String(id)),
      );
    }
    await deleteRecords(em, resource, removed);
    report.removed += removed.length;
  }
  if (hasNewFacets || report.removed > 0) await refreshFacets(em, snapshot);
  await saveProjectionState(em, snapshot.next);
  return report;
}

/** Writes the slugs in use with their labels (PRJ-10). */
export async function refreshFacets(em: EntityManager, { reader }: Snapshot): Promise<void> {
  const entries = await readEnumValues(em, resources);
  await reader.readTexts(labelKeysOf(entries));
  await replaceFacets(
    em,
    facetsOf(entries, (key) => reader.textOf(key)),
  );
}

interface Imported {
  game: string;
  touched?: readonly string[];
}

/**
 * The import step that keeps the projection of `game` up to date; other games have none. It runs for
 * imports of every branch, because an upstream key belongs to an entity on all branches.
 */
export function projectionOf(game: string) {
  return async (em: EntityManager, imported: Imported): Promise<void> => {
    if (imported.game !== game) return;
    await refreshProjection(em, game, imported.touched ?? null);
  };
}
