import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { KeptEntity } from "../db/queries/codex-import.ts";
import type { EntityIdentity } from "../db/queries/codex-sources.ts";
import { stageEntities, type StagedEntity } from "../db/queries/codex-staging.ts";
import { maxEntities, type ImportEnvelope } from "./contract.ts";
import type { ProblemList } from "./problems.ts";
import {
  maxEntityBytes,
  prepareEntity,
  type PrepareContext,
  type PreparedEntity,
} from "./prepare.ts";

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
  /** Entities of `current` by the digest of a text that they would be made of again. */
  known: ReadonlyMap<string, EntityIdentity>;
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
  /** Ids that are as in `current` but not as in `base`; they were not read, so they are not staged. */
  kept: string[];
  /** Id, upstream key, hash and digest of each entity; the digest is empty where there is no text. */
  facts: string[];
}

export interface CompareOptions {
  signal: AbortSignal | undefined;
  onProgress: (done: number) => void;
  /** Every difference to what readers see now. */
  onChange: (op: "added" | "changed" | "removed", id: string) => void;
}

/**
 * Checks every entity and compares it by hash; what has to be written goes to the staging tables of the
 * transaction. Where a text is known nothing but its digest is looked at. Problems go to the list of the
 * context.
 */
export async function compareEntities(
  em: EntityManager,
  envelope: ImportEnvelope,
  states: ComparedStates,
  context: PrepareContext,
  options: CompareOptions,
): Promise<Comparison> {
  const { problems } = context;
  const { digests = [] } = envelope;
  const known = digests.map((digest) => states.known.get(digest));
  const facts: string[] = [];
  const kept: string[] = [];
  const tally = createTally(states, problems, options);
  const stage = createStage(em, problems);
  let position = 0;
  const turn = async () => {
    options.onProgress(position);
    await nextTurn();
    options.signal?.throwIfAborted();
  };
  const passKnown = async () => {
    for (let one = known[position]; one !== undefined; one = known[position]) {
      facts.push(one.key, one.upstreamKey, one.hash, digests[position] ?? "");
      if (tally.add(one) && tally.isNewToBase(one)) kept.push(one.key);
      if (++position % entitiesPerTurn === 0) await turn();
    }
  };
  for await (const source of envelope.entities((at) => known[at] === undefined)) {
    if (known[position] !== undefined) await passKnown();
    if (++position % entitiesPerTurn === 0) await turn();
    if (position > maxEntities) break;
    const entity = await prepareEntity(source, position, context);
    if (entity === null || !tally.add(entity)) continue;
    facts.push(entity.key, entity.upstreamKey, entity.hash, digests[position - 1] ?? "");
    if (states.isWritable) await stage.add(entity, states);
  }
  await passKnown();
  options.onProgress(position);
  if (position > maxEntities) problems.add("entities", "", `are more than ${maxEntities}`);
  const found = tally.finish();
  if (problems.count === 0) await stage.flush();
  return { ...found, kept, facts, hasNewKeys: stage.hasNewKeys() };
}

/** Counts the entities by what happens to them. */
function createTally(
  { current, base }: ComparedStates,
  problems: ProblemList,
  { onChange }: CompareOptions,
) {
  const seen = new Set<string>();
  const upstreamKeys = new Set<string>();
  const toCurrent = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const toBase = { added: 0, changed: 0, removed: 0 };
  const hasSeparateBase = base !== current;
  const isCollision = ({ key, upstreamKey }: EntityIdentity): boolean => {
    const isKnown = !isNew(seen, key);
    const isFree = isNew(upstreamKeys, upstreamKey);
    if (isKnown) problems.add(key, "", `comes twice, again as ${upstreamKey}`);
    else if (!isFree) problems.add(key, "upstream_key", `${upstreamKey} comes twice`);
    return isKnown;
  };
  return {
    isNewToBase: ({ key, hash }: EntityIdentity) => hasSeparateBase && base.get(key)?.hash !== hash,
    /** False when its id came before. */
    add(entity: EntityIdentity): boolean {
      if (isCollision(entity)) return false;
      const { key, hash } = entity;
      const op = opOf(current.get(key), hash);
      toCurrent[op]++;
      if (op !== "unchanged") onChange(op, key);
      const baseOp = hasSeparateBase ? opOf(base.get(key), hash) : op;
      if (baseOp !== "unchanged") toBase[baseOp]++;
      return true;
    },
    /** The numbers, and what is missing; entities with problems are missing as well, but then nobody asks. */
    finish(): Pick<Comparison, "toCurrent" | "toBase" | "removed"> {
      const isWhole = toCurrent.changed + toCurrent.unchanged === current.size;
      const gone = isWhole ? [] : missing(current, seen);
      if (problems.count === 0) for (const key of gone) onChange("removed", key);
      const removed = hasSeparateBase ? missing(base, seen) : gone;
      return {
        toCurrent: { ...toCurrent, removed: gone.length },
        toBase: { ...toBase, removed: removed.length },
        removed,
      };
    },
  };
}

/** Adds the text; asking first would cost as much again. */
function isNew(texts: Set<string>, text: string): boolean {
  const { size } = texts;
  texts.add(text);
  return texts.size > size;
}

function opOf(kept: KeptEntity | undefined, hash: string): "added" | "changed" | "unchanged" {
  if (kept === undefined) return "added";
  return kept.hash === hash ? "unchanged" : "changed";
}

const missing = (state: ReadonlyMap<string, KeptEntity>, seen: ReadonlySet<string>) =>
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
