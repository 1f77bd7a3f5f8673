import type { EntityDiff, EntityHistory, HydratedEntity, PatchList } from "../generated/answers.ts";
import { EmberlineError } from "../client/emberline.ts";
import type { Place } from "./codex-place.ts";
import { date } from "./words.ts";

/** Maximum number of relations that one API read resolves. */
const maxRels = 16;

/** A patch that changed the entity. */
export interface Step {
  version: string;
  raw: string;
  day: string;
  isRemoved: boolean;
  patchId: number;
}

export interface Steps {
  id: string;
  list: readonly Step[];
  /** Position of each patch from the oldest, by id and by versions. */
  order: ReadonlyMap<number, number>;
  versions: ReadonlyMap<string, number>;
  /** The newest patch of the branch. */
  head: string;
}

/** `before` is the compared state and `change` the difference; both are null for the first state. */
export interface State {
  step: Step;
  other: Step | null;
  entity: HydratedEntity | null;
  before: HydratedEntity | null;
  change: EntityDiff | null;
  summary: string;
}

/** The states of an entity, oldest first, and the order of all patches. */
export async function readSteps(place: Place, id: string): Promise<Steps> {
  const [{ history, id: key }, { patches }] = await Promise.all([
    place.ask<EntityHistory>(`${encodeURIComponent(id)}/history`),
    place.ask<PatchList>("patches"),
  ]);
  const oldestFirst = [...patches].reverse();
  const order = new Map(oldestFirst.map((patch, index) => [patch.id, index]));
  const days = new Map(patches.map((patch) => [patch.id, patch.imported_at]));
  const list = history.map((row) => ({
    version: row.patch_version,
    raw: row.patch_version_raw,
    day: date(row.released_at ?? days.get(row.patch_id) ?? null) ?? "",
    isRemoved: row.is_tombstone,
    patchId: row.patch_id,
  }));
  const versions = new Map(
    oldestFirst.flatMap((patch, index) => [
      [patch.version_raw, index] as const,
      [patch.version, index] as const,
    ]),
  );
  return { id: key, list, order, versions, head: patches[0]?.version_raw ?? "" };
}

/**
 * Why there is no state at the requested patch, as a sentence; null if there is one, or none is requested.
 */
export function whyNoStep(steps: Steps, version: string | null): string | null {
  if (!version || stepAt(steps, version) !== null) return null;
  return steps.versions.has(spelt(version))
    ? `This entry is not there yet in patch ${version}.`
    : `This branch has no patch ${version}.`;
}

/** A plus in an address may have been decoded as a space. */
const spelt = (version: string) => version.replaceAll(" ", "+");

/**
 * Index of the state an entity has at a patch; null without a version, for an unknown one, or before the
 * first state.
 */
export function stepAt({ list, order, versions }: Steps, version: string | null): number | null {
  const place = version === null ? undefined : versions.get(spelt(version));
  if (place === undefined) return null;
  for (let index = list.length - 1; index >= 0; index--)
    if ((order.get(list[index]?.patchId ?? 0) ?? 0) <= place) return index;
  return null;
}

/** The default comparison is with the previous state. */
export const comparedStep = (at: number, other: number | null): number =>
  other === null || other === at ? at - 1 : other;

export async function readState(
  place: Place,
  steps: Steps,
  at: number,
  other: number | null,
  signal?: AbortSignal,
): Promise<State> {
  const step = steps.list[at];
  if (step === undefined) throw new Error(`There is no state ${at}.`);
  const compared = steps.list[comparedStep(at, other)] ?? null;
  const path = encodeURIComponent(steps.id);
  const entityAt = async (one: Step | null) =>
    one === null || one.isRemoved
      ? null
      : place.ask<HydratedEntity>(path, { at_patch: one.version }, signal);
  const [entity, before, change] = await Promise.all([
    entityAt(step).then((one) => withLinks(place, path, one, step, signal)),
    step.isRemoved ? entityAt(compared) : null,
    compared &&
      place.ask<EntityDiff>(`diff/${path}`, { from: compared.version, to: step.version }, signal),
  ]);
  return {
    step,
    other: compared,
    entity,
    before,
    change,
    summary: summaryOf(step, compared, change),
  };
}

/** The entity with its link targets, for their names and pictures. */
async function withLinks(
  place: Place,
  path: string,
  entity: HydratedEntity | null,
  step: Step,
  signal: AbortSignal | undefined,
): Promise<HydratedEntity | null> {
  const rels = [...new Set(entity?.links.map(({ rel }) => rel))];
  const simple = rels.filter((rel) => !rel.includes(",")).slice(0, maxRels);
  if (simple.length === 0) return entity;
  const hydrate = simple.join(",");
  // The targets may exceed one response; the entity is shown without them.
  try {
    return await place.ask(path, { at_patch: step.version, hydrate }, signal);
  } catch (error) {
    if (error instanceof EmberlineError && error.status === 400) return entity;
    throw error;
  }
}

function summaryOf(step: Step, other: Step | null, change: EntityDiff | null): string {
  if (other === null || change === null) return `Patch ${step.raw}: new`;
  const fields = change.changes?.length ?? 0;
  const words: Readonly<Record<EntityDiff["op"], string>> = {
    added: "added",
    removed: "removed",
    unchanged: "the same",
    changed: `${fields} ${fields === 1 ? "field differs" : "fields differ"}`,
  };
  return `Patch ${step.raw}, compared with ${other.raw}: ${words[change.op]}`;
}
