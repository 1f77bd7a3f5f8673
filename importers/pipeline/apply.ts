import type { EntityManager } from "@mikro-orm/postgresql";
import {
  insertBranch,
  insertPatch,
  raiseGeneration,
  readTextHashes,
  revisePatch,
  saveGame,
} from "../../db/queries/archive/codex-import.ts";
import { saveKnown } from "../../db/queries/archive/codex-sources.ts";
import {
  applyStaged,
  applyTexts,
  listTouched,
  refreshHead,
  revertPatch,
  touchStaged,
  touchWholeBranch,
  type TextChange,
} from "../../db/queries/archive/codex-apply.ts";
import { stageKept, stageRemoved, storeStaged } from "../../db/queries/archive/codex-staging.ts";
import { stateOf } from "./check/patch-position.ts";
import { changesOfTexts } from "./check/texts.ts";
import type { PlannedImport } from "./plan.ts";

/** An imported patch, as the projection sees it inside the transaction. */
export interface ImportedPatch {
  game: string;
  gameId: number;
  branch: string;
  branchId: number;
  patchId: number;
  /** Ids of all entities that may differ from the state before the import. */
  touched: readonly string[];
}

export interface ApplyOptions {
  /** Milliseconds; the import time of the patch. */
  now: number;
  /** Rebuilds what depends on the archive, in the transaction, only after a write (IMP-05). */
  project?: (em: EntityManager, patch: ImportedPatch) => Promise<void>;
}

/**
 * Step 4: a plan and the staged entities -> rows of the archive and of the projection. Runs in the transaction of
 * the plan, so it is all or nothing, and writes only what differs.
 */
export async function apply(
  em: EntityManager,
  planned: PlannedImport,
  { now, project }: ApplyOptions,
): Promise<void> {
  const { checked, comparison, known, context } = planned;
  const { header } = checked.envelope;
  await stageMissing(em, planned);
  await checked.assets.storeNew();
  const gameId = await saveGame(em, {
    slug: header.game.slug,
    displayName: header.game.display_name,
  });
  const branchId = planned.position.branch?.id ?? (await createBranch(em, gameId, planned));
  const patchId = await writePatch(em, { gameId, branchId }, planned, now);
  await refreshHead(em, branchId);
  await raiseGeneration(em, gameId);
  const { read, gone } = comparison;
  await saveKnown(em, { branchId, patchId }, { known, context, read, gone });
  if (project === undefined) return;
  const names = { game: header.game.slug, branch: header.branch.slug };
  const touched = await listTouched(em);
  await project(em, { ...names, gameId, branchId, patchId, touched });
}

/** Completes the staging tables with the entities that were not read. */
async function stageMissing(
  em: EntityManager,
  { position: { existing, previous }, comparison }: PlannedImport,
): Promise<void> {
  await stageRemoved(em, comparison.removed);
  const current = stateOf(existing ?? previous);
  if (current !== null) await stageKept(em, current, comparison.kept);
}

async function createBranch(
  em: EntityManager,
  gameId: number,
  { position: { origin }, checked }: PlannedImport,
): Promise<number> {
  const { slug } = checked.envelope.header.branch;
  const parentId = origin?.parent.id ?? null;
  const id = await insertBranch(em, { gameId, slug, parentId, fork: origin?.fork ?? null });
  await touchWholeBranch(em, id);
  return id;
}

interface BranchPlace {
  gameId: number;
  branchId: number;
}

/** Writes the patch with its rows; differing rows replace those of an imported patch. */
async function writePatch(
  em: EntityManager,
  place: BranchPlace,
  planned: PlannedImport,
  now: number,
): Promise<number> {
  const { position, checked, hasNewContent } = planned;
  const { existing, previous, version } = position;
  const { gameId, branchId } = place;
  if (existing !== null && existing.branchId !== branchId) {
    // The fork patch of a new branch belongs to its parent.
    await touchStaged(em, place);
    return existing.id;
  }
  await storeStaged(em, gameId);
  const facts = patchFacts(planned, now);
  const ord = existing?.ord ?? (previous?.ord ?? 0) + 1;
  const patchId =
    existing?.id ??
    (await insertPatch(em, {
      ...facts,
      branchId,
      ord,
      parentId: previous?.id ?? null,
      version,
      versionRaw: checked.envelope.header.patch.version_raw,
    }));
  if (existing !== null) {
    await revisePatch(em, { ...facts, id: patchId });
    if (!hasNewContent) {
      await touchStaged(em, place);
      return patchId;
    }
    await revertPatch(em, branchId, ord);
  }
  await applyStaged(em, { ...place, patchId, ord });
  await applyTexts(em, { branchId, ord }, await textChangesToPrevious(em, planned));
  return patchId;
}

/** Dates and counts of the patch; the counts are against the patch before. */
function patchFacts({ position, checked, comparison, hasNewContent }: PlannedImport, now: number) {
  const { existing } = position;
  const released = checked.envelope.header.patch.released_at;
  const { added, changed, removed } = comparison.toBase;
  return {
    releasedAt: released === null ? (existing?.releasedAt ?? null) : Date.parse(released),
    // New keys or dates alone do not move the import time.
    importedAt: hasNewContent || existing === null ? now : existing.importedAt,
    numAdded: added,
    numChanged: changed,
    numRemoved: removed,
  };
}

/** Text changes against the patch before; those of the plan are against the current state. */
async function textChangesToPrevious(
  em: EntityManager,
  { position: { existing, previous }, checked: { envelope, texts }, textChanges }: PlannedImport,
): Promise<readonly TextChange[]> {
  if (existing === null) return textChanges;
  const stored = await readTextHashes(em, stateOf(previous));
  return changesOfTexts(stored, envelope.locales, texts);
}
