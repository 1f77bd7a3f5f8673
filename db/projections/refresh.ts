import type { EntityManager } from "@mikro-orm/postgresql";
import { deleteRecords, readEnumValues, saveRecords } from "../queries/projection-rows.ts";
import { replaceFacets, saveProjectionState } from "../queries/projection-state.ts";
import { facetsOf, labelKeysOf } from "./facets.ts";
import { findStale, makeRecords, projectedBranch, readMoment, type Moment } from "./moment.ts";
import { resources } from "./resources/index.ts";

export interface RefreshReport {
  /** Rows made anew, because something they show changed. */
  made: number;
  removed: number;
}

/**
 * Brings every table up to the present of the game, inside the caller's transaction, which holds the game's
 * lock (IMP-05). Rows whose inputs are the same are not touched.
 */
export async function refreshProjection(em: EntityManager, slug: string): Promise<RefreshReport> {
  const report = { made: 0, removed: 0 };
  const moment = await readMoment(em, slug);
  if (moment === null) return report;
  for (const resource of resources) {
    const { ids, removed } = await findStale(em, moment, resource, false);
    for await (const records of makeRecords(moment, resource, ids)) {
      await saveRecords(em, resource, records);
      report.made += records.length;
    }
    await deleteRecords(em, resource, removed);
    report.removed += removed.length;
  }
  if (report.made + report.removed > 0 || moment.hasNewTexts) await refreshFacets(em, moment);
  await saveProjectionState(em, moment.next);
  return report;
}

/** Writes the slugs in use with their labels (PRJ-10). */
export async function refreshFacets(em: EntityManager, { reader }: Moment): Promise<void> {
  const entries = await readEnumValues(em, resources);
  await reader.readTexts(labelKeysOf(entries));
  await replaceFacets(
    em,
    facetsOf(entries, (key) => reader.textOf(key)),
  );
}

/** The part of an import that keeps the projection of `game` with the archive; other games have none. */
export function projectionOf(game: string) {
  return async (em: EntityManager, imported: { game: string; branch: string }): Promise<void> => {
    if (imported.game !== game || imported.branch !== projectedBranch) return;
    await refreshProjection(em, game);
  };
}
