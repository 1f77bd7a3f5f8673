import { Refusal } from "./page.js";
import { date } from "./words.js";

/** Relations one read of the archive resolves. */
const maxRels = 16;

/** @typedef {{ version: string, raw: string, day: string, isRemoved: boolean, patchId: number }} Step */
/** @typedef {{ id: string, list: Step[], order: Map<number, number>, versions: Map<string, number>, head: string }} Steps */
/**
 * `before` is the state compared with, `change` what differs, both null for the first state alone.
 * @typedef {{ step: Step, other: Step | null, entity: any, before: any, change: any, summary: string }} State
 */

/** The states of an entity, oldest first, and the order of the patches between them. @param {import("./codex-place.js").Place} place @param {string} id @returns {Promise<Steps>} */
export async function readSteps(place, id) {
  const [{ history, id: key }, { patches }] = await Promise.all([
    place.ask(`${encodeURIComponent(id)}/history`),
    place.ask("patches"),
  ]);
  const oldestFirst = [...patches].reverse();
  const order = new Map(oldestFirst.map((patch, index) => [patch.id, index]));
  const days = new Map(patches.map((/** @type {any} */ patch) => [patch.id, patch.imported_at]));
  const list = history.map((/** @type {any} */ row) => ({
    version: row.patch_version,
    raw: row.patch_version_raw,
    day: date(row.released_at ?? days.get(row.patch_id) ?? null) ?? "",
    isRemoved: row.is_tombstone,
    patchId: row.patch_id,
  }));
  const versions = new Map(
    oldestFirst.flatMap((patch, index) => [
      [patch.version_raw, index],
      [patch.version, index],
    ]),
  );
  return { id: key, list, order, versions, head: patches[0]?.version_raw ?? "" };
}

/** Why there is no state at the patch an address asks for, as a sentence; null when there is one, or none is asked for. @param {Steps} steps @param {string | null} version */
export function whyNoStep(steps, version) {
  if (!version || stepAt(steps, version) !== null) return null;
  return steps.versions.has(spelt(version))
    ? `This entry is not there yet in patch ${version}.`
    : `This branch has no patch ${version}.`;
}

/** A plus of an address may have become a space. @param {string} version */
const spelt = (version) => version.replaceAll(" ", "+");

/** The state an entity is in at a patch, as its place in the list; null for no or an unknown version, or before the first. @param {Steps} steps @param {string | null} version */
export function stepAt({ list, order, versions }, version) {
  const place = version === null ? undefined : versions.get(spelt(version));
  if (place === undefined) return null;
  const index = list.findLastIndex(({ patchId }) => (order.get(patchId) ?? 0) <= place);
  return index < 0 ? null : index;
}

/** What is compared when nothing else was chosen: the state before. @param {number} at @param {number | null} other */
export const comparedStep = (at, other) => (other === null || other === at ? at - 1 : other);

/** @param {import("./codex-place.js").Place} place @param {Steps} steps @param {number} at @param {number | null} other @param {AbortSignal} [signal] @returns {Promise<State>} */
export async function readState(place, steps, at, other, signal) {
  const step = /** @type {Step} */ (steps.list[at]);
  const compared = steps.list[comparedStep(at, other)] ?? null;
  const path = encodeURIComponent(steps.id);
  const entityAt = async (/** @type {Step | null} */ one) =>
    one === null || one.isRemoved ? null : place.ask(path, { at_patch: one.version }, signal);
  const [entity, before, change] = await Promise.all([
    entityAt(step).then((one) => withLinks(place, path, one, step, signal)),
    step.isRemoved ? entityAt(compared) : null,
    compared && place.ask(`diff/${path}`, { from: compared.version, to: step.version }, signal),
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

/** The entity with the targets of its links, for their names and pictures. @param {import("./codex-place.js").Place} place @param {string} path @param {any} entity @param {Step} step @param {AbortSignal | undefined} signal */
async function withLinks(place, path, entity, step, signal) {
  const rels = [...new Set((entity?.links ?? []).map((/** @type {any} */ link) => link.rel))];
  const simple = rels.filter((rel) => !rel.includes(",")).slice(0, maxRels);
  if (simple.length === 0) return entity;
  const hydrate = simple.join(",");
  // Targets may be too much for one answer: the entity itself is there all the same.
  return place.ask(path, { at_patch: step.version, hydrate }, signal).catch((error) => {
    if (error instanceof Refusal && error.status === 400) return entity;
    throw error;
  });
}

/** @param {Step} step @param {Step | null} other @param {any} change */
function summaryOf(step, other, change) {
  if (other === null) return `Patch ${step.raw}: new`;
  const fields = change.changes?.length ?? 0;
  const words = /** @type {Record<string, string>} */ ({
    added: "added",
    removed: "removed",
    unchanged: "the same",
    changed: `${fields} ${fields === 1 ? "field differs" : "fields differ"}`,
  });
  return `Patch ${step.raw}, compared with ${other.raw}: ${words[change.op] ?? ""}`;
}
