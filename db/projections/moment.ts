import type { EntityManager } from "@mikro-orm/postgresql";
import { readDirectory } from "../queries/codex-directory.ts";
import { readTextHashes } from "../queries/codex-import.ts";
import { readMarks, recordOf, type Marks, type RowRecord } from "../queries/projection-rows.ts";
import { readStates } from "../queries/projection-sources.ts";
import { readProjectionState, type ProjectionState } from "../queries/projection-state.ts";
import { inputsHash, projectorVersion, stateText, textsHash } from "./project.ts";
import type { Resource } from "./resource.ts";
import { StateReader } from "./shelf.ts";

/** The branch the projection shows (PRJ-01). */
export const projectedBranch = "main";
/** Rows made at a time. */
const batchSize = 500;
/** Rows above which all texts are read at once instead of by key. */
const manyRows = 100;

/** The archive as a refresh finds it; the game is locked, so it stays like that until the commit. */
export interface Moment {
  reader: StateReader;
  /** Ids of what exists, by type. */
  live: ReadonlyMap<string, readonly string[]>;
  stateOf: (id: string) => string | undefined;
  /** What the tables are made from once they are brought up to this moment. */
  next: ProjectionState;
  /** Texts are others than those the tables were made from. */
  hasNewTexts: boolean;
}

/** Null while there is no such game. */
export async function readMoment(em: EntityManager, slug: string): Promise<Moment | null> {
  const [game] = await readDirectory(em, slug);
  if (game === undefined) return null;
  const head = game.branches.get(projectedBranch)?.patches.at(-1);
  const state = { branchId: head?.branchId ?? 0, ord: head?.ord ?? 0 };
  const states = await readStates(em, game.id, state);
  const present = [...states.values()].filter(({ hash }) => hash !== null);
  const byType = Map.groupBy(present, ({ type }) => type);
  const hashes = [...(await readTextHashes(em, state))].sort(([a], [b]) => (a < b ? -1 : 1));
  const textHashes = Object.fromEntries(hashes);
  const kept = await readProjectionState(em);
  const reader = new StateReader(em, game.id, state);
  const hasNewTexts =
    kept?.gameId !== game.id || canonical(kept.textHashes) !== JSON.stringify(textHashes);
  if (hasNewTexts) await reader.takeAllTexts();
  return {
    reader,
    live: new Map([...byType].map(([type, some]) => [type, some.map(({ id }) => id).sort()])),
    stateOf: (id) => {
      const known = states.get(id);
      return known === undefined ? undefined : stateText(known);
    },
    next: { gameId: game.id, projectorVersion, generation: game.generation, textHashes },
    hasNewTexts,
  };
}

const canonical = (hashes: Readonly<Record<string, string>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1))));

/** What a table lacks to be what the archive says. */
export interface Stale {
  resource: Resource;
  /** Rows to make, in order. */
  ids: readonly string[];
  /** Rows whose entity is gone. */
  removed: readonly string[];
}

/** The rows whose inputs are others than those they were made from; all of them when `isWhole`. */
export async function findStale(
  em: EntityManager,
  moment: Moment,
  resource: Resource,
  isWhole: boolean,
): Promise<Stale> {
  const live = moment.live.get(resource.type) ?? [];
  const present = new Set(live);
  const marks = await readMarks(em, resource, moment.hasNewTexts);
  const removed = marks.flatMap(({ id }) => (present.has(id) ? [] : id));
  if (isWhole) return { resource, ids: live, removed };
  const fresh = new Set(marks.flatMap((mark) => (isFresh(mark, moment) ? mark.id : [])));
  return { resource, ids: live.filter((id) => !fresh.has(id)), removed };
}

function isFresh(mark: Marks, { stateOf, hasNewTexts, reader }: Moment): boolean {
  if (mark.inputsHash !== inputsHash(mark.id, mark.companions, stateOf)) return false;
  return !hasNewTexts || mark.textsHash === textsHash(mark.textKeys, (key) => reader.textOf(key));
}

/** Makes rows anew, some at a time. */
export async function* makeRecords(
  { reader, stateOf }: Moment,
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
        inputsHash: inputsHash(id, companions, stateOf),
        textsHash: textsHash(textKeys, (key) => reader.textOf(key)),
      });
    });
    reader.clear();
  }
}
