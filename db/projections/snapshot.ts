import type { EntityManager } from "@mikro-orm/postgresql";
import { readDirectory } from "../queries/archive/codex-directory.ts";
import { readTextHashes } from "../queries/archive/codex-import.ts";
import {
  listRowsAbout,
  readInputHashes,
  recordOf,
  type InputHashes,
  type RowPart,
  type RowRecord,
} from "../queries/gamedata/projection-rows.ts";
import { readStates } from "../queries/gamedata/projection-sources.ts";
import { readProjectionState, type ProjectionState } from "../queries/gamedata/projection-state.ts";
import { inputsHash, projectorVersion, stateText, textsHash } from "./project.ts";
import type { Resource } from "./resource.ts";
import { resources } from "./resources/index.ts";
import { StateReader } from "./read-context.ts";

/** The projected branch (PRJ-01). */
export const projectedBranch = "main";
/** Rows projected per batch. */
const batchSize = 500;
/** Above this many rows all texts are read at once instead of by key. */
const manyRows = 100;

/** The archive at the start of a refresh; the lock on the game keeps it unchanged until the commit. */
export interface Snapshot {
  reader: StateReader;
  /** The only rows that can be stale; null = any row can be. */
  dirtyRows: readonly RowPart[] | null;
  /** Ids of existing entities by type; with `dirtyRows`, only those of these rows and of touched entities. */
  live: ReadonlyMap<string, readonly string[]>;
  stateOf: (id: string) => string | undefined;
  /** State of the projection after an update to this snapshot. */
  next: ProjectionState;
  /** True if texts have changed since the tables were computed. */
  hasNewTexts: boolean;
}

/**
 * Null if the game does not exist. With `touched`, the ids of all entities an import has just changed, only
 * dependent rows are compared, provided the tables were up to date before: 2 % of 20,000 rows take 108 ms,
 * all of them 3.0 s (`npm run bench -- micro projection`).
 */
export async function readSnapshot(
  em: EntityManager,
  slug: string,
  touched: readonly string[] | null = null,
): Promise<Snapshot | null> {
  const [game] = await readDirectory(em, slug);
  if (game === undefined) return null;
  const head = game.branches.get(projectedBranch)?.patches.at(-1);
  const state = { branchId: head?.branchId ?? 0, ord: head?.ord ?? 0 };
  const hashes = [...(await readTextHashes(em, state))].sort(([a], [b]) => (a < b ? -1 : 1));
  const textHashes = Object.fromEntries(hashes);
  const kept = await readProjectionState(em);
  const next = { gameId: game.id, projectorVersion, generation: game.generation, textHashes };
  const reader = new StateReader(em, game.id, state);
  const hasNewTexts =
    kept?.gameId !== game.id || canonical(kept.textHashes) !== JSON.stringify(textHashes);
  if (hasNewTexts) await reader.takeAllTexts();
  const isStep = touched !== null && !hasNewTexts && isSuccessorOf(kept, next);
  const dirtyRows = isStep ? await listRowsAbout(em, resources, touched) : null;
  const ids = isStep ? new Set([...touched, ...(dirtyRows ?? []).map(({ id }) => id)]) : null;
  const inputs = ids && [...ids, ...(dirtyRows ?? []).flatMap(({ companions }) => companions)];
  const states = await readStates(em, game.id, state, inputs);
  const present = [...states.values()].filter(
    ({ id, hash }) => hash !== null && (ids === null || ids.has(id)),
  );
  const byType = Map.groupBy(present, ({ type }) => type);
  return {
    reader,
    dirtyRows,
    live: new Map([...byType].map(([type, some]) => [type, some.map(({ id }) => id).sort()])),
    stateOf: (id) => {
      const known = states.get(id);
      return known === undefined ? undefined : stateText(known);
    },
    next,
    hasNewTexts,
  };
}

/** Whether the import that led to `next` is the only change since the tables were computed. */
const isSuccessorOf = (kept: ProjectionState | null, next: ProjectionState) =>
  kept?.projectorVersion === next.projectorVersion && kept.generation === next.generation - 1;

const canonical = (hashes: Readonly<Record<string, string>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1))));

/** Differences between a table and the archive. */
export interface Stale {
  resource: Resource;
  /** Rows to project, in order. */
  ids: readonly string[];
  /** Rows whose entity no longer exists. */
  removed: readonly string[];
}

/** The rows whose inputs have changed; all rows if `isWhole`. */
export async function findStale(
  em: EntityManager,
  snapshot: Snapshot,
  resource: Resource,
  isWhole: boolean,
): Promise<Stale> {
  const live = snapshot.live.get(resource.type) ?? [];
  const present = new Set(live);
  const stored = await inputHashesOf(em, snapshot, resource);
  const removed = stored.flatMap(({ id }) => (present.has(id) ? [] : id));
  if (isWhole) return { resource, ids: live, removed };
  const fresh = new Set(stored.flatMap((one) => (isFresh(one, snapshot) ? one.id : [])));
  return { resource, ids: live.filter((id) => !fresh.has(id)), removed };
}

async function inputHashesOf(
  em: EntityManager,
  { dirtyRows, hasNewTexts }: Snapshot,
  resource: Resource,
): Promise<InputHashes[]> {
  if (dirtyRows === null) return readInputHashes(em, resource, hasNewTexts);
  const own = dirtyRows.filter(({ table }) => table === resource.table);
  return own.map((row) => ({ ...row, textKeys: [], textsHash: "" }));
}

function isFresh(one: InputHashes, { stateOf, hasNewTexts, reader }: Snapshot): boolean {
  if (one.inputsHash !== inputsHash(one.id, one.companions, stateOf)) return false;
  return !hasNewTexts || one.textsHash === textsHash(one.textKeys, (key) => reader.textOf(key));
}

/** Projects rows again, in batches. */
export async function* makeRecords(
  { reader }: Snapshot,
  resource: Resource,
  ids: readonly string[],
): AsyncGenerator<RowRecord[]> {
  if (ids.length > manyRows) await reader.takeAllTexts();
  for (let at = 0; at < ids.length; at += batchSize) {
    const made = await reader.project(resource, ids.slice(at, at + batchSize));
    yield made.map((projected) => {
      const { row, companions, textKeys } = projected;
      const id = String(row["id"]);
      return recordOf({
        ...projected,
        inputsHash: inputsHash(id, companions, (one) => reader.stateOf(one)),
        textsHash: textsHash(textKeys, (key) => reader.textOf(key)),
      });
    });
    reader.clear();
  }
}
