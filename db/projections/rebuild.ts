import type { EntityManager } from "@mikro-orm/postgresql";
import { lockGame, raiseGeneration } from "../queries/archive/codex-import.ts";
import {
  closeBuild,
  countChanges,
  findBuild,
  insertBuild,
  insertChanges,
  listBuilds,
  listChanges,
  type Build,
  type Change,
} from "../queries/gamedata/projection-builds.ts";
import {
  deleteRecords,
  readRecords,
  saveRecords,
  type RowRecord,
} from "../queries/gamedata/projection-rows.ts";
import { saveProjectionState } from "../queries/gamedata/projection-state.ts";
import { findStale, makeRecords, readSnapshot, type Snapshot } from "./snapshot.ts";
import { projectorVersion } from "./project.ts";
import { refreshFacets, refreshProjection } from "./refresh.ts";
import type { Resource } from "./resource.ts";
import { resources } from "./resources/index.ts";

export type RebuildRefusal =
  | "projection:busy"
  | "projection:no_game"
  | "projection:no_build"
  | "projection:outdated"
  | "projection:nothing_to_take_back";

/** A rebuild that cannot be done; nothing was written. */
export class RebuildRefused extends Error {
  readonly code: RebuildRefusal;

  constructor(code: RebuildRefusal) {
    super(code);
    this.name = "RebuildRefused";
    this.code = code;
  }
}

const pageSize = 500;
/** Texts in no language: the next import finds others, and so looks at every row. */
const unlikeAny = { "-": "" };

async function lockedSnapshot(em: EntityManager, game: string): Promise<Snapshot> {
  if (!(await lockGame(em, game))) throw new RebuildRefused("projection:busy");
  const snapshot = await readSnapshot(em, game);
  if (snapshot === null) throw new RebuildRefused("projection:no_game");
  return snapshot;
}

/**
 * Makes every row anew beside the tables and keeps what differs: readers notice nothing. The functions here
 * work in the caller's transaction and hold the game until it ends.
 */
export async function previewRebuild(em: EntityManager, game: string): Promise<Build> {
  const snapshot = await lockedSnapshot(em, game);
  const build = await insertBuild(em, snapshot.next);
  for (const resource of resources) {
    const { ids, removed } = await findStale(em, snapshot, resource, true);
    for await (const made of makeRecords(snapshot, resource, ids)) {
      const kept = await readRecords(em, resource, made.map(idOf));
      const changes = made.map((after): Change => {
        const rowId = idOf(after);
        return { resource: resource.path, rowId, before: kept.get(rowId) ?? null, after };
      });
      await insertChanges(
        em,
        build.id,
        changes.filter((change) => fieldsOf(resource, change).length > 0),
      );
    }
    const gone = await readRecords(em, resource, removed);
    await insertChanges(
      em,
      build.id,
      [...gone].map(([rowId, before]) => ({ resource: resource.path, rowId, before, after: null })),
    );
  }
  return countChanges(em, build.id);
}

const idOf = (record: RowRecord): string => String(record["id"]);

/**
 * Writes what a preview found, or what there is to find now. Refused when the archive or the projector are
 * others than at the preview.
 */
export async function applyRebuild(
  em: EntityManager,
  game: string,
  buildId: number | null,
): Promise<Build> {
  const build = buildId === null ? await previewRebuild(em, game) : await findBuild(em, buildId);
  const snapshot = await lockedSnapshot(em, game);
  const { next } = snapshot;
  if (build === null || build.gameId !== next.gameId || build.status !== "preview")
    throw new RebuildRefused("projection:no_build");
  if (build.generation !== next.generation || build.projectorVersion !== projectorVersion)
    throw new RebuildRefused("projection:outdated");
  await write(em, build.id, "after");
  // Rows that look the same are still of this projector now, and so are the labels.
  await refreshProjection(em, game);
  await refreshFacets(em, snapshot);
  const generation = await raiseGeneration(em, next.gameId);
  await saveProjectionState(em, { ...next, generation });
  await closeBuild(em, build.id, { status: "applied", generation });
  return { ...build, status: "applied", generation };
}

const hasChanges = ({ numAdded, numChanged, numRemoved }: Build) =>
  numAdded + numChanged + numRemoved > 0;

/**
 * Puts back the rows as they were before the newest rebuild that changed any. Refused once an import came after it. The way
 * back holds until the next import or rebuild, which make rows with this projector again.
 */
export async function undoRebuild(em: EntityManager, game: string): Promise<Build> {
  const snapshot = await lockedSnapshot(em, game);
  const { gameId, generation: now } = snapshot.next;
  const builds = await listBuilds(em);
  const closed = builds.filter((one) => one.gameId === gameId && one.status !== "preview");
  const at = closed.findIndex(hasChanges);
  const last = closed[at];
  if (last === undefined || last.status === "reverted")
    throw new RebuildRefused("projection:nothing_to_take_back");
  // One that found nothing, such as a job that was killed before it was noted done, raised it by one as well.
  if (last.generation !== now - at) throw new RebuildRefused("projection:outdated");
  await write(em, last.id, "before");
  await refreshFacets(em, snapshot);
  const generation = await raiseGeneration(em, gameId);
  await saveProjectionState(em, { ...snapshot.next, generation, textHashes: unlikeAny });
  await closeBuild(em, last.id, { status: "reverted", generation });
  return { ...last, status: "reverted", generation };
}

/** Makes every row of a build what it is on that side of it. */
async function write(em: EntityManager, buildId: number, side: "before" | "after"): Promise<void> {
  const byPath = new Map(resources.map((resource) => [resource.path, resource]));
  for (let after = ""; ;) {
    const page = await listChanges(em, buildId, { after, limit: pageSize });
    for (const [path, changes] of Map.groupBy(page, ({ resource }) => resource)) {
      const resource = byPath.get(path);
      if (resource === undefined) continue;
      const wanted = changes.map((change) => change[side]).filter((record) => record !== null);
      await saveRecords(em, resource, wanted);
      const gone = changes.filter((change) => change[side] === null);
      await deleteRecords(
        em,
        resource,
        gone.map(({ rowId }) => rowId),
      );
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.rowId;
  }
}

export interface FieldChange {
  column: string;
  before: unknown;
  after: unknown;
}

/** The columns of a row that differ, with every language of a text. */
export function fieldsOf({ columns }: Resource, { before, after }: Change): FieldChange[] {
  return Object.keys(columns).flatMap((column) => {
    const [old, fresh] = [before?.[column] ?? null, after?.[column] ?? null];
    return JSON.stringify(old) === JSON.stringify(fresh)
      ? []
      : { column, before: old, after: fresh };
  });
}

/** What a build does to rows, in order of id: for people who decide on it. */
export async function showChanges(
  em: EntityManager,
  buildId: number,
  page: { after: string; limit: number },
) {
  const byPath = new Map(resources.map((resource) => [resource.path, resource]));
  const changes = await listChanges(em, buildId, page);
  return changes.map((change) => {
    const resource = byPath.get(change.resource);
    return {
      id: change.rowId,
      op: change.before === null ? "added" : change.after === null ? "removed" : "changed",
      fields: resource === undefined ? [] : fieldsOf(resource, change),
    };
  });
}
