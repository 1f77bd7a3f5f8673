import type { EntityManager } from "@mikro-orm/postgresql";
import {
  insertBranch,
  insertPatch,
  raiseGeneration,
  revisePatch,
  saveGame,
} from "../../db/queries/archive/codex-import.ts";
import {
  applyStaged,
  applyTexts,
  refreshHead,
  revertPatch,
  storeStaged,
  touchStaged,
  touchWholeBranch,
  type TextChange,
} from "../../db/queries/archive/codex-staging.ts";
import type { AssetIndex } from "./check/asset-index.ts";
import type { Counts } from "./plan/compare.ts";
import type { EnvelopeHeader } from "../envelope/contract.ts";
import type { Place } from "./check/patch-position.ts";

export interface WriteInput {
  header: EnvelopeHeader;
  place: Place;
  /** Against the patch before. */
  counts: Counts;
  /** False for a re-run that only brings names of upstream, dates and the like. */
  hasNewContent: boolean;
  textChanges: readonly TextChange[];
  assets: AssetIndex;
  now: number;
}

export interface Written {
  gameId: number;
  branchId: number;
  patchId: number;
}

/** Writes what the comparison staged. Everything an envelope says has been checked by now. */
export async function writeImport(em: EntityManager, input: WriteInput): Promise<Written> {
  const { header, place } = input;
  await input.assets.storeNew();
  const gameId = await saveGame(em, {
    slug: header.game.slug,
    displayName: header.game.display_name,
  });
  const branchId = place.branch?.id ?? (await createBranch(em, gameId, input));
  const patchId = await writePatch(em, gameId, branchId, input);
  await refreshHead(em, branchId);
  await raiseGeneration(em, gameId);
  return { gameId, branchId, patchId };
}

async function createBranch(
  em: EntityManager,
  gameId: number,
  { header, place }: WriteInput,
): Promise<number> {
  const { slug } = header.branch;
  const parentId = place.origin?.parent.id ?? null;
  const id = await insertBranch(em, { gameId, slug, parentId, fork: place.origin?.fork ?? null });
  await touchWholeBranch(em, id);
  return id;
}

/** The patch with its rows; of one that exists, the rows that differ replace those it had. */
async function writePatch(
  em: EntityManager,
  gameId: number,
  branchId: number,
  { header, place, counts, hasNewContent, textChanges, now }: WriteInput,
): Promise<number> {
  const { existing, previous } = place;
  const released = header.patch.released_at;
  const facts = {
    releasedAt: released === null ? (existing?.releasedAt ?? null) : Date.parse(released),
    importedAt: hasNewContent || existing === null ? now : existing.importedAt,
    numAdded: counts.added,
    numChanged: counts.changed,
    numRemoved: counts.removed,
  };
  if (existing !== null && existing.branchId !== branchId) {
    // The patch a new branch begins at belongs to its parent.
    await touchStaged(em, { gameId, branchId });
    return existing.id;
  }
  await storeStaged(em, gameId);
  const ord = existing?.ord ?? (previous?.ord ?? 0) + 1;
  const patchId =
    existing?.id ??
    (await insertPatch(em, {
      ...facts,
      branchId,
      ord,
      parentId: previous?.id ?? null,
      version: place.version,
      versionRaw: header.patch.version_raw,
    }));
  const spot = { gameId, branchId, patchId, ord };
  if (existing !== null) {
    await revisePatch(em, { ...facts, id: patchId });
    if (!hasNewContent) {
      await touchStaged(em, { gameId, branchId });
      return patchId;
    }
    await revertPatch(em, branchId, ord);
  }
  await applyStaged(em, spot);
  await applyTexts(em, spot, textChanges);
  return patchId;
}
