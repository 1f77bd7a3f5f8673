import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { KeptEntity } from "../db/queries/codex-import.ts";
import { stageEntities, type StagedEntity } from "../db/queries/codex-staging.ts";
import type { ImportEnvelope } from "./contract.ts";
import type { ProblemList } from "./problems.ts";
import {
  maxEntityBytes,
  prepareEntity,
  type PrepareContext,
  type PreparedEntity,
} from "./prepare.ts";

/** Entities one envelope may have. */
export const maxEntities = 1_000_000;
/** Entities between two looks at the rest of the process. */
const entitiesPerTurn = 256;
/** Staged entities, and characters of them, that are held before they go to the database. */
const maxHeld = 500;
const maxHeldLength = 2 * 1024 * 1024;

export interface ComparedStates {
  /** What readers see at this patch now; empty for a new patch of a new game. */
  current: ReadonlyMap<string, KeptEntity>;
  /** What the patch changes; the same map unless it replaces an imported patch. */
  base: ReadonlyMap<string, KeptEntity>;
  /** What differs may be written, so it has to be kept. */
  isWritable: boolean;
  /** Words may differ although the content is the same: English texts did. */
  hasNewTexts: boolean;
}

export interface Counts {
  added: number;
  changed: number;
  removed: number;
}

export interface Comparison {
  /** Against what readers see now. */
  toCurrent: Counts & { unchanged: number };
  /** Against the patch before. */
  toBase: Counts;
  /** Ids that exist in `base` and not in the envelope. */
  removed: string[];
  /** An entity has another upstream key than before. */
  hasNewKeys: boolean;
}

export interface CompareOptions {
  signal: AbortSignal | undefined;
  onProgress: (done: number) => void;
  /** Every difference to what readers see now. */
  onChange: (op: "added" | "changed" | "removed", id: string) => void;
}

/**
 * Checks every entity and compares it by hash; what has to be written goes to the staging tables of the
 * transaction. Problems go to the list of the context.
 */
export async function compareEntities(
  em: EntityManager,
  envelope: ImportEnvelope,
  states: ComparedStates,
  context: PrepareContext,
  options: CompareOptions,
): Promise<Comparison> {
  const seen = new Map<string, string>();
  const upstreamKeys = new Set<string>();
  const toCurrent = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const toBase = { added: 0, changed: 0, removed: 0 };
  const stage = createStage(em, context.problems);
  let position = 0;
  for await (const source of envelope.entities()) {
    position++;
    if (position % entitiesPerTurn === 0) {
      options.onProgress(position);
      await nextTurn();
      options.signal?.throwIfAborted();
    }
    if (position > maxEntities) {
      context.problems.add("entities", "", `are more than ${maxEntities}`);
      break;
    }
    const entity = await prepareEntity(source, position, context);
    if (entity === null) continue;
    if (isCollision(entity, seen, upstreamKeys, context)) continue;
    seen.set(entity.key, entity.hash);
    const op = opOf(states.current.get(entity.key), entity.hash);
    toCurrent[op]++;
    if (op !== "unchanged") options.onChange(op, entity.key);
    const baseOp = opOf(states.base.get(entity.key), entity.hash);
    if (baseOp !== "unchanged") toBase[baseOp]++;
    if (states.isWritable) await stage.add(entity, states);
  }
  options.onProgress(position);
  // Entities with problems are missing as well; then there is no report.
  for (const key of missing(states.current, seen)) {
    toCurrent.removed++;
    if (context.problems.count === 0) options.onChange("removed", key);
  }
  const removed = missing(states.base, seen);
  toBase.removed = removed.length;
  if (context.problems.count === 0) await stage.flush();
  return { toCurrent, toBase, removed, hasNewKeys: stage.hasNewKeys() };
}

function isCollision(
  entity: PreparedEntity,
  seen: ReadonlyMap<string, string>,
  upstreamKeys: Set<string>,
  { problems }: PrepareContext,
): boolean {
  const isKnown = seen.has(entity.key);
  if (isKnown) problems.add(entity.key, "", `comes twice, again as ${entity.upstreamKey}`);
  else if (upstreamKeys.has(entity.upstreamKey))
    problems.add(entity.key, "upstream_key", `${entity.upstreamKey} comes twice`);
  upstreamKeys.add(entity.upstreamKey);
  return isKnown;
}

function opOf(kept: KeptEntity | undefined, hash: string): "added" | "changed" | "unchanged" {
  if (kept === undefined) return "added";
  return kept.hash === hash ? "unchanged" : "changed";
}

const missing = (state: ReadonlyMap<string, KeptEntity>, seen: ReadonlyMap<string, string>) =>
  [...state.keys()].filter((key) => !seen.has(key));

/** Holds what has to be written until there is enough for a statement. */
function createStage(em: EntityManager, problems: ProblemList) {
  let held: StagedEntity[] = [];
  let length = 0;
  let newKeys = 0;
  const flush = async () => {
    await stageEntities(em, held);
    held = [];
    length = 0;
  };
  return {
    hasNewKeys: () => newKeys > 0,
    flush,
    async add(entity: PreparedEntity, states: ComparedStates): Promise<void> {
      const base = states.base.get(entity.key);
      const current = states.current.get(entity.key);
      const isChanged = base?.hash !== entity.hash;
      const isRenamed = current !== undefined && current.upstreamKey !== entity.upstreamKey;
      if (isRenamed) newKeys++;
      if (!isChanged && !isRenamed && current?.hash === entity.hash && !states.hasNewTexts) return;
      const { key, type, upstreamKey, hash } = entity;
      const { body, words } = entity.content();
      if (Buffer.byteLength(body) > maxEntityBytes)
        problems.add(key, "", `has more than ${maxEntityBytes} bytes`);
      if (problems.count > 0) return;
      held.push({ key, type, upstreamKey, hash, body, words, isChanged });
      length += body.length;
      if (held.length >= maxHeld || length >= maxHeldLength) await flush();
    },
  };
}
