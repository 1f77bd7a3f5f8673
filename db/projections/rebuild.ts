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

/** A rebuild was refused; nothing was written. */
export class RebuildRefused extends Error {
  readonly code: RebuildRefusal;

  constructor(code: RebuildRefusal) {
    super(code);
    this.name = "RebuildRefused";
    this.code = code;
  }
}

const pageSize = 500;
/** Text hashes that match no language, so that the next import checks every row. */
const unlikeAny = { "-": "" };

async function lockedSnapshot(em: EntityManager, game: string): Promise<Snapshot> {
  if (!(await lockGame(em, game))) throw new RebuildRefused("projection:busy");
  const snapshot = await readSnapshot(em, game);
  if (snapshot === null) throw new RebuildRefused("projection:no_game");
  return snapshot;
}

/**
 * Projects every row beside the tables and stores the differences; reads are not affected. The functions
 * here run in the caller's transaction and hold the lock of the game until it ends.
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
 * Writes the differences of a preview, or of a new one if `buildId` is null. Refused if the archive or the
 * projector has changed since the preview.
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
  // Unchanged rows and labels now count as computed by this projector.
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
 * Restores the rows to their state before the newest rebuild that changed any; refused if an import came
 * later. The restored rows last until the next import or rebuild, which projects them again.
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
  // Rebuilds without changes also raised the generation, for example one whose job was killed before it was
  // recorded as done.
  if (last.generation !== now - at) throw new RebuildRefused("projection:outdated");
  await write(em, last.id, "before");
  await refreshFacets(em, snapshot);
  const generation = await raiseGeneration(em, gameId);
  await saveProjectionState(em, { ...snapshot.next, generation, textHashes: unlikeAny });
  await closeBuild(em, last.id, { status: "reverted", generation });
  return { ...last, status: "reverted", generation };
}

/** Sets every row of a build to its state before or after it. */
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

/** The differing columns of a row, with every language of a text. */
export function fieldsOf({ columns }: Resource, { before, after }: Change): FieldChange[] {
  return Object.keys(columns).flatMap((column) => {
    const [old, fresh] = [before?.[column] ?? null, after?.[column] ?? null];
    return JSON.stringify(old) === JSON.stringify(fresh)
      ? []
      : { column, before: old, after: fresh };
  });
}

/** The changes of a build in order of id, for operators who decide on it. */
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
