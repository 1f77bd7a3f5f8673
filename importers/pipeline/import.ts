import type { EntityManager } from "@mikro-orm/postgresql";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import {
  countTexts,
  lockGame,
  readStateBefore,
  readTextHashes,
} from "../../db/queries/archive/codex-import.ts";
import { readKnown, saveKnown } from "../../db/queries/archive/codex-sources.ts";
import {
  prepareStaging,
  listTouched,
  stageKept,
  stageRemoved,
} from "../../db/queries/archive/codex-staging.ts";
import { indexAssets } from "./check/asset-index.ts";
import { compareEntities, type ComparedStates, type Comparison } from "./plan/compare.ts";
import {
  ImportRefused,
  type ImportEnvelope,
  type ImportReport,
  type SourceTexts,
} from "../envelope/contract.ts";
import { findHeaderProblems } from "../envelope/header.ts";
import { locate, stateOf, type Place } from "./check/patch-position.ts";
import { contextDigest } from "./check/prepare-entity.ts";
import { ProblemList } from "../envelope/problem-list.ts";
import { changesOfTexts, prepareTexts } from "./check/texts.ts";
import { writeImport } from "./apply.ts";

/** Another import of the same game is running; the caller may try again. */
export class ImportBusy extends Error {
  constructor(game: string) {
    super(`import:busy another import of ${game} is running`);
    this.name = "ImportBusy";
  }
}

/** What a part of the import that belongs to one patch gets to know, inside its transaction. */
export interface ImportedPatch {
  game: string;
  gameId: number;
  branch: string;
  branchId: number;
  patchId: number;
  /** Ids of everything that may differ from what was there before this import. */
  touched: readonly string[];
}

export type ImportOp = "added" | "changed" | "removed";

export interface ImportOptions {
  /** Milliseconds; when the patch counts as imported. */
  now: number;
  /** Says what would change and writes nothing. */
  isDryRun?: boolean;
  /** A patch may remove more than half of what its branch has. */
  allowShrink?: boolean;
  /** Ends the import without a trace, up to the commit. */
  signal?: AbortSignal;
  /** `total` is 0 while it is not known. */
  onProgress?: (phase: "assets" | "entities" | "writing", done: number, total: number) => void;
  /** Every entity that differs from what readers see now. */
  onChange?: (op: ImportOp, id: string) => void;
  /**
   * What has to be true as soon as the patch is: runs in the transaction, after the archive was written and
   * only when it was (IMP-05).
   */
  project?: (em: EntityManager, patch: ImportedPatch) => Promise<void>;
}

/**
 * Pass 2: brings one envelope into the archive, in one transaction (IMP-03, IMP-04). The same envelope again
 * writes nothing. Throws ImportRefused with everything that is wrong, or ImportBusy.
 */
export async function importEnvelope(
  em: EntityManager,
  envelope: ImportEnvelope,
  options: ImportOptions,
): Promise<ImportReport> {
  const problems = new ProblemList();
  for (const { entity, place, problem } of envelope.problems ?? [])
    problems.add(entity, place, problem);
  for (const { place, problem } of findHeaderProblems(envelope.header))
    problems.add("envelope", place, problem);
  if (problems.count > 0) return checkAlone(em, envelope, problems, options);
  const { game } = envelope.header;
  return em.transactional(async (tx) => {
    if (!(await lockGame(tx, game.slug))) throw new ImportBusy(game.slug);
    return importLocked(tx, envelope, problems, options);
  });
}

const whatIsFixed =
  "only the newest patch of a branch can be replaced, and only while no branch begins at it";

async function importLocked(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  options: ImportOptions,
): Promise<ImportReport> {
  const { header, locales } = envelope;
  const [game = null] = await readDirectory(em, header.game.slug);
  const place = locate(game, header, problems);
  if (place === null) return checkAlone(em, envelope, problems, options);
  const currentPatch = place.existing ?? place.previous;
  const currentState = stateOf(currentPatch);
  const { texts, assets } = await prepareParts(em, envelope, problems, options);
  const textContext = contextDigest(texts.englishHash, assets);
  const known = await readKnown(em, currentPatch, textContext);
  const current = known.entities;
  const isRerun = place.existing !== null;
  const base =
    isRerun && currentState !== null ? await readStateBefore(em, currentState, current) : current;
  const currentTexts = await readTextHashes(em, currentState);
  const textChanges = changesOfTexts(currentTexts, locales, texts);
  const isNewBranch = place.branch === null;
  const hasNewTexts =
    isNewBranch || textChanges.some(({ locale }) => locale.toLowerCase() === "en");
  await prepareStaging(em);
  const states: ComparedStates = {
    current,
    base,
    // The head of a new branch is built from nothing, and the words in it are those of the entities read.
    known: isNewBranch ? new Map() : known.byDigest,
    isWritable: place.isReplaceable || isNewBranch,
    hasNewTexts,
  };
  const comparison = await compareEntities(
    em,
    envelope,
    states,
    { english: texts.english, assets, problems },
    {
      ...watchOf(envelope, options),
      onChange: (op, id) => {
        options.onChange?.(op, id);
        // Patches after it, or other branches, stand on its rows (IMP-04).
        if (isRerun && !place.isReplaceable) problems.add(id, "", `${op}, but ${whatIsFixed}`);
      },
    },
  ).catch((error: unknown) => refuseWith(problems, error));
  if (isRerun && !place.isReplaceable && textChanges.length > 0)
    problems.add("locales", "", `changed, but ${whatIsFixed}`);
  problems.refuseIfAny();
  options.signal?.throwIfAborted();
  const report = reportOf(envelope, place, comparison);
  if (options.allowShrink !== true) {
    const shrinking = shrinkOf(comparison, states);
    if (shrinking !== null) problems.add("entities", "", shrinking);
    const compared = [currentState, isRerun ? stateOf(place.previous) : null];
    for (const state of textChanges.length > 0 ? compared : []) {
      const lost = shrinkOfTexts(await countTexts(em, state), locales);
      if (lost !== null) problems.add("locales", "", lost);
    }
    problems.refuseIfAny();
  }
  const hasWork = needsWrite(envelope, place, comparison, textChanges.length > 0);
  if (!hasWork || options.isDryRun === true) return report;
  options.onProgress?.("writing", 0, 1);
  await stageRemoved(em, comparison.removed);
  if (currentState !== null) await stageKept(em, currentState, comparison.kept);
  const baseTexts = isRerun ? await readTextHashes(em, stateOf(place.previous)) : currentTexts;
  const written = await writeImport(em, {
    header,
    place,
    counts: comparison.toBase,
    hasNewContent: hasNewContent(comparison) || textChanges.length > 0,
    textChanges: changesOfTexts(baseTexts, locales, texts),
    assets,
    now: options.now,
  });
  const { read, gone } = comparison;
  await saveKnown(em, written, { known, context: textContext, read, gone });
  if (options.project !== undefined) {
    const names = { game: header.game.slug, branch: header.branch.slug };
    await options.project(em, { ...written, ...names, touched: await listTouched(em) });
  }
  options.onProgress?.("writing", 1, 1);
  options.signal?.throwIfAborted();
  return report;
}

async function prepareParts(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  { signal, onProgress }: ImportOptions,
) {
  const texts = prepareTexts(envelope.locales, problems);
  const assets = await indexAssets(em, envelope, problems, {
    signal,
    onProgress: (done) => onProgress?.("assets", done, envelope.assets.length),
  });
  return { texts, assets };
}

function watchOf({ entityCount = 0 }: ImportEnvelope, { signal, onProgress }: ImportOptions) {
  return { signal, onProgress: (done: number) => onProgress?.("entities", done, entityCount) };
}

/** Adds what is wrong with the rest of an envelope that has no place in the archive. */
async function checkAlone(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  options: ImportOptions,
): Promise<never> {
  const { texts, assets } = await prepareParts(em, envelope, problems, options);
  await compareEntities(
    em,
    envelope,
    {
      current: new Map(),
      base: new Map(),
      known: new Map(),
      isWritable: false,
      hasNewTexts: false,
    },
    { english: texts.english, assets, problems },
    { ...watchOf(envelope, options), onChange: () => {} },
  ).catch((error: unknown) => refuseWith(problems, error));
  problems.refuseIfAny();
  throw new Error("an envelope without place has a problem");
}

/** An entity that is no JSON ends the reading; what was found up to there is told as well. */
function refuseWith(problems: ProblemList, error: unknown): never {
  if (!(error instanceof ImportRefused)) throw error;
  for (const { entity, place, problem } of error.problems) problems.add(entity, place, problem);
  problems.refuseIfAny();
  throw error;
}

const hasNewContent = ({ toCurrent }: Comparison) =>
  toCurrent.added + toCurrent.changed + toCurrent.removed > 0;

/**
 * A patch without most of what was there is more often half a file than a game that lost half of itself. It is
 * held against what readers see, and against the patch before, so that it cannot go bit by bit. What a patch
 * is without already it may be without again.
 */
function shrinkOf(comparison: Comparison, states: ComparedStates): string | null {
  const { toCurrent, toBase } = comparison;
  if (!hasNewContent(comparison)) return null;
  const compared = [
    [toCurrent, states.current.size],
    [toBase, states.base.size],
  ] as const;
  for (const [{ added, changed, removed }, size] of compared)
    if (removed * 2 > size) {
      const unchanged = size - changed - removed;
      const counts = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
      return `the patch would remove more than half of the branch (${counts}); if it shall, --allow-shrink lets it`;
    }
  return null;
}

/** The same for texts: how many a state has against how many of each language are left. */
function shrinkOfTexts(before: ReadonlyMap<string, number>, locales: SourceTexts): string | null {
  let [all, removed] = [0, 0];
  for (const [locale, count] of before) {
    all += count;
    removed += Math.max(0, count - Object.keys(locales[locale] ?? {}).length);
  }
  if (removed * 2 <= all) return null;
  return `the patch would remove more than half of the texts (${removed} of ${all}); if it shall, --allow-shrink lets it`;
}

/** A re-run with nothing new writes no row in any table. */
function needsWrite(
  { header }: ImportEnvelope,
  { game, branch, existing, isReplaceable }: Place,
  comparison: Comparison,
  hasNewTexts: boolean,
): boolean {
  if (game === null || branch === null || existing === null) return true;
  if (!isReplaceable) return false;
  if (hasNewContent(comparison) || hasNewTexts || comparison.hasNewKeys) return true;
  const released = header.patch.released_at;
  const isDated = released !== null && Date.parse(released) !== existing.releasedAt;
  return isDated || game.displayName !== header.game.display_name;
}

function reportOf(
  { header }: ImportEnvelope,
  { version, branch, isReplaceable }: Place,
  { toCurrent, renamed }: Comparison,
): ImportReport {
  const { added, changed, removed, unchanged } = toCurrent;
  const names = { game: header.game.slug, branch: header.branch.slug, patch: version };
  const counts = { ...names, added, changed, removed, unchanged };
  // A new branch had no keys before, and an older patch names nothing anew.
  return renamed > 0 && branch !== null && isReplaceable ? { ...counts, renamed } : counts;
}
