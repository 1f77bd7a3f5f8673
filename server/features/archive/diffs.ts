import type { Archive, ArchiveBody } from "./domain/archive.ts";
import {
  listDiffPairs,
  readDocuments,
  type DiffPair,
} from "../../../db/queries/archive/codex-diff.ts";
import { rangesBetween, type CodexPatch } from "../../../db/queries/archive/codex-directory.ts";
import { compareBodies, type Outcome } from "./compared.ts";
import { canonicalId } from "./entities.ts";
import { finishedBody, stateKey, type Place } from "./places.ts";
import { presentPatchRef } from "./present.ts";
import { createTimeSlice, createWriter } from "./writer.ts";

/** Pairs of documents read in one batch. */
const pairsPerRead = 250;

/** Two patches of a branch in import order; `from` null is the state before the first. */
export interface PatchRange {
  from: CodexPatch | null;
  to: CodexPatch;
}

export function inOrder(a: CodexPatch, b: CodexPatch): { from: CodexPatch; to: CodexPatch } {
  return a.ord <= b.ord ? { from: a, to: b } : { from: b, to: a };
}

const stateOf = (patch: CodexPatch) => ({ branchId: patch.branchId, ord: patch.ord });

/** The differing entities, without their documents. */
export async function pairsOf(
  archive: Archive,
  { game }: Place,
  { from, to }: PatchRange,
): Promise<readonly DiffPair[]> {
  return archive.pairs.fetch(`${stateKey(from)} ${stateKey(to)}`, () =>
    listDiffPairs(archive.fork(), {
      ranges: rangesBetween(game, from, to),
      from: from === null ? null : stateOf(from),
      to: stateOf(to),
    }),
  );
}

export interface Compared {
  pair: DiffPair;
  outcome: Outcome;
}

/** Compares pairs in batches and yields to other requests between them. */
export async function* comparePairs(
  archive: Archive,
  pairs: readonly DiffPair[],
): AsyncGenerator<Compared> {
  const em = archive.fork();
  const slice = createTimeSlice();
  for (let at = 0; at < pairs.length; at += pairsPerRead) {
    const some = pairs.slice(at, at + pairsPerRead);
    const ids = some.flatMap(({ before, after }) => [before, after]).filter((id) => id !== null);
    const bodies = await readDocuments(em, ids);
    const bodyOf = (id: number | null) => (id === null ? null : (bodies.get(id) ?? null));
    for (const pair of some) {
      yield { pair, outcome: compareBodies(bodyOf(pair.before), bodyOf(pair.after)) };
      if (slice.isOver()) await slice.yield();
    }
  }
}

export const opOf = ({ before, after }: DiffPair) =>
  before === null ? "added" : after === null ? "removed" : "changed";

export function summaryOf(pairs: readonly DiffPair[]) {
  const summary = { added: 0, removed: 0, changed: 0 };
  for (const pair of pairs) summary[opOf(pair)]++;
  return summary;
}

function entryOf({ pair, outcome }: Compared) {
  const { name: _name, ...rest } = outcome;
  return { id: pair.key, type: pair.type, ...rest };
}

/** The diff of two patches, cached: it changes only when a patch is replaced. */
export function readDiff(archive: Archive, place: Place, a: CodexPatch, b: CodexPatch) {
  const range = inOrder(a, b);
  return archive.bodies.fetch(`diff ${stateKey(range.from)} ${stateKey(range.to)}`, () =>
    archive.builds.run(() => buildDiff(archive, place, range)),
  );
}

async function buildDiff(
  archive: Archive,
  place: Place,
  range: { from: CodexPatch; to: CodexPatch },
): Promise<ArchiveBody> {
  const pairs = await pairsOf(archive, place, range);
  const refs = { from: presentPatchRef(range.from), to: presentPatchRef(range.to) };
  const writer = createWriter();
  writer.add(`${JSON.stringify(refs).slice(0, -1)},"entries":[`);
  let separator = "";
  for await (const compared of comparePairs(archive, pairs)) {
    writer.add(separator + JSON.stringify(entryOf(compared)));
    separator = ",";
  }
  writer.add(`],"summary":${JSON.stringify(summaryOf(pairs))}}`);
  return writer.finish();
}

/** The diff of one entity; `unchanged` also for one that does not exist (COD-07). */
export async function readEntityDiff(
  archive: Archive,
  { game }: Place,
  id: string,
  { from, to }: { from: CodexPatch; to: CodexPatch },
): Promise<ArchiveBody> {
  const em = archive.fork();
  const key = await canonicalId(em, game.id, to, id);
  const ranges = rangesBetween(game, from, to);
  const states = { ranges, from: stateOf(from), to: stateOf(to) };
  const pairs =
    key === null ? [] : await listDiffPairs(em, { ...states, entity: { gameId: game.id, key } });
  const refs = { from: presentPatchRef(from), to: presentPatchRef(to) };
  for await (const compared of comparePairs(archive, pairs)) {
    const entry = entryOf(compared);
    return finishedBody(JSON.stringify({ ...refs, ...entry, entry, summary: summaryOf(pairs) }));
  }
  const type = (key ?? id).split(".")[1] ?? "";
  const entry = { id: key ?? id, type, op: "unchanged", changes: [] };
  return finishedBody(JSON.stringify({ ...refs, ...entry, entry, summary: summaryOf([]) }));
}
