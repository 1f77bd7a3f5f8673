import type { EntityManager } from "@mikro-orm/postgresql";
import {
  countTexts,
  readStateBefore,
  readTextHashes,
} from "../../db/queries/archive/codex-import.ts";
import { readKnown, type KnownState } from "../../db/queries/archive/codex-sources.ts";
import type { TextChange } from "../../db/queries/archive/codex-apply.ts";
import { prepareStaging } from "../../db/queries/archive/codex-staging.ts";
import type { ImportEnvelope } from "../envelope/contract.ts";
import { typeOfId } from "../envelope/entity-id.ts";
import type { CheckedEnvelope } from "./check.ts";
import { stateOf, type PatchPosition } from "./check/patch-position.ts";
import { contextDigest } from "./check/prepare-entity.ts";
import { changesOfTexts } from "./check/texts.ts";
import { compareEntities, type CompareOptions, type Comparison } from "./plan/compare.ts";
import type { ComparedStates } from "./plan/compared-states.ts";
import {
  maxListedChanges,
  type Counts,
  type ImportOp,
  type ImportPlan,
} from "./plan/import-plan.ts";
import { findShrink, findTextShrink } from "./plan/shrink.ts";

export interface PlanOptions extends Omit<CompareOptions, "onChange"> {
  /** Lets a patch remove more than half of its branch. */
  allowShrink?: boolean;
  /** The game with typed resources; the plan says whether they follow. */
  projectedGame?: string;
}

/** A plan with the data that `apply` needs besides the staging tables. */
export interface PlannedImport {
  plan: ImportPlan;
  checked: CheckedEnvelope;
  position: PatchPosition;
  comparison: Comparison;
  /** Against the current state. */
  textChanges: readonly TextChange[];
  known: KnownState;
  /** Digest of everything besides their texts that entities were made from. */
  context: string;
  hasNewContent: boolean;
}

/**
 * Step 3: a checked envelope and the archive -> the plan of all differences. It compares digests, reads only
 * entities with an unknown text, and stages the differing ones in temporary tables of the transaction. Throws
 * ImportRefused with every problem of the envelope.
 */
export async function plan(
  em: EntityManager,
  checked: CheckedEnvelope,
  position: PatchPosition,
  options: PlanOptions,
): Promise<PlannedImport> {
  const { envelope, texts, assets, problems } = checked;
  const { existing, previous } = position;
  const currentPatch = existing ?? previous;
  const context = contextDigest(texts.englishHash, assets);
  const known = await readKnown(em, currentPatch, context);
  const storedTexts = await readTextHashes(em, stateOf(currentPatch));
  const textChanges = changesOfTexts(storedTexts, envelope.locales, texts);
  const refusal = replacementRefusal(position);
  const isFixed = refusal !== null;
  const states = { ...(await statesOf(em, position, known, textChanges)), isFixed };
  await prepareStaging(em);
  const differences = new DifferenceList();
  const comparison = await compareEntities(em, checked, states, {
    ...options,
    onChange: (op, id) => {
      differences.add(op, id);
      if (refusal !== null) problems.add(id, "", `${op}, but ${refusal}`);
    },
  }).catch((error: unknown) => problems.refuseWith(error));
  if (refusal !== null && textChanges.length > 0)
    problems.add("locales", "", `changed, but ${refusal}`);
  problems.refuseIfAny();
  options.signal?.throwIfAborted();
  if (options.allowShrink !== true)
    await refuseShrink(em, checked, position, { comparison, states, textChanges });
  const { added, changed, removed, unchanged } = comparison.toCurrent;
  const hasNewContent = added + changed + removed > 0 || textChanges.length > 0;
  const action = actionOf(envelope, position, hasNewContent || comparison.hasNewKeys);
  const { header } = envelope;
  return {
    plan: {
      game: header.game.slug,
      branch: header.branch.slug,
      patch: position.version,
      action,
      fork: forkOf(position),
      added,
      changed,
      removed,
      unchanged,
      renamed: numRenamed(position, comparison),
      ...keyFacts(checked, comparison),
      types: differences.types,
      texts: textChanges.map(({ locale, texts: next }) => ({
        locale,
        op: next === null ? "removed" : storedTexts.has(locale) ? "changed" : "added",
      })),
      assets: action === "none" ? { added: 0, bytes: 0 } : addedAssets(checked),
      rebuild: {
        entities: action === "none" ? 0 : numRebuilt(position, comparison, states),
        projection: action !== "none" && header.game.slug === options.projectedGame,
      },
      changes: differences.listed,
      omitted: differences.omitted,
    },
    checked,
    position,
    comparison,
    textChanges,
    known,
    context,
    hasNewContent,
  };
}

async function statesOf(
  em: EntityManager,
  { existing, branch, isReplaceable }: PatchPosition,
  { entities: current, byDigest }: KnownState,
  textChanges: readonly TextChange[],
): Promise<Omit<ComparedStates, "isFixed">> {
  const existingState = stateOf(existing);
  const isNewBranch = branch === null;
  return {
    current,
    base: existingState === null ? current : await readStateBefore(em, existingState, current),
    // All rows of a new branch are built, and their search words come from the entities of the envelope.
    known: isNewBranch ? new Map() : byDigest,
    isWritable: isReplaceable || isNewBranch,
    hasNewTexts: isNewBranch || textChanges.some(({ locale }) => locale.toLowerCase() === "en"),
  };
}

/** Why an imported patch cannot get other data; null for one that can (IMP-04). */
function replacementRefusal({ existing, isReplaceable }: PatchPosition): string | null {
  if (existing === null || isReplaceable) return null;
  return "only the newest patch of a branch can be replaced, and only while no branch begins at it";
}

interface Differences {
  comparison: Comparison;
  states: ComparedStates;
  textChanges: readonly TextChange[];
}

async function refuseShrink(
  em: EntityManager,
  { envelope: { locales }, problems }: CheckedEnvelope,
  { existing, previous }: PatchPosition,
  { comparison, states, textChanges }: Differences,
): Promise<void> {
  const shrink = findShrink(comparison, states);
  if (shrink !== null) problems.add("entities", "", shrink);
  const patches = existing === null ? [previous] : [existing, previous];
  for (const patch of textChanges.length > 0 ? patches : []) {
    const textShrink = findTextShrink(await countTexts(em, stateOf(patch)), locales);
    if (textShrink !== null) problems.add("locales", "", textShrink);
  }
  problems.refuseIfAny();
}

/** The same data again writes no row in any table. */
function actionOf(
  { header }: ImportEnvelope,
  { game, branch, existing, isReplaceable }: PatchPosition,
  hasDifference: boolean,
): ImportPlan["action"] {
  if (game === null || branch === null || existing === null) return "create";
  if (!isReplaceable) return "none";
  const released = header.patch.released_at;
  const isDated = released !== null && Date.parse(released) !== existing.releasedAt;
  const isRetitled = game.displayName !== header.game.display_name;
  return hasDifference || isDated || isRetitled ? "replace" : "none";
}

function forkOf({ branch, origin }: PatchPosition): ImportPlan["fork"] {
  if (branch !== null || origin === null) return null;
  return { parent: origin.parent.slug, version: origin.fork.version };
}

/** A new branch has no former keys, and a fixed patch cannot rename. */
const numRenamed = ({ branch, isReplaceable }: PatchPosition, { renamed }: Comparison): number =>
  branch !== null && isReplaceable ? renamed : 0;

/** What to say about keys that are the same in snake case; nothing in most games. */
function keyFacts(
  { keptKeys: { listed, omitted } }: CheckedEnvelope,
  { moved }: Comparison,
): Pick<ImportPlan, "moved" | "kept"> {
  return {
    ...(moved > 0 && { moved }),
    ...(listed.length > 0 && { kept: { keys: listed, omitted } }),
  };
}

function addedAssets({ assets }: CheckedEnvelope): ImportPlan["assets"] {
  const { count, bytes } = assets.newFiles;
  return { added: count, bytes };
}

/** Entities whose row is written anew: all of a new branch, else the staged and the missing ones. */
function numRebuilt(
  { branch }: PatchPosition,
  { toCurrent, staged, kept, gone, removed }: Comparison,
  { current }: ComparedStates,
): number {
  if (branch === null) return current.size + toCurrent.added;
  return staged + kept.length + new Set([...gone, ...removed]).size;
}

/** Differing entities: counted by type, and the first of them listed. */
class DifferenceList {
  readonly listed: { op: ImportOp; id: string }[] = [];
  omitted = 0;
  readonly #types = new Map<string, Counts>();

  add(op: ImportOp, id: string): void {
    if (this.listed.length < maxListedChanges) this.listed.push({ op, id });
    else this.omitted++;
    const type = typeOfId(id) ?? "";
    const counts = this.#types.get(type) ?? { added: 0, changed: 0, removed: 0 };
    counts[op]++;
    this.#types.set(type, counts);
  }

  get types(): Record<string, Counts> {
    return Object.fromEntries([...this.#types].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
