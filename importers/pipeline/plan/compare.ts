import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { KeptEntity } from "../../../db/queries/archive/codex-import.ts";
import type { KnownEntity } from "../../../db/queries/archive/codex-sources.ts";
import { stageEntities, type StagedEntity } from "../../../db/queries/archive/codex-staging.ts";
import { maxEntities, type ImportEnvelope } from "../../envelope/contract.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import {
  maxEntityBytes,
  prepareEntity,
  type PrepareContext,
  type PreparedEntity,
} from "../check/prepare-entity.ts";

/**
 * Work between two looks at the rest of the process, in entities passed over, and what it is to read one: others
 * wait 50 ms at most (`npm run bench -- codex`, "worst list meanwhile").
 */
const workPerTurn = 4_096;
const readingWork = 16;
/**
 * Staged entities, and characters of them, that are held before they go to the database: with 1, staging takes
 * twelve times the processor (157 against 13 µs an entity; `npm run bench -- codex`, "first import").
 */
const maxHeld = 500;
const maxHeldLength = 2 * 1024 * 1024;

export interface ComparedStates {
  /** What readers see at this patch now; empty for a new patch of a new game. */
  current: ReadonlyMap<string, KnownEntity>;
  /** What the patch changes; the same map unless it replaces an imported patch. */
  base: ReadonlyMap<string, KeptEntity>;
  /** Entities of `current` by the digest of a text that they would be made of again. */
  known: ReadonlyMap<string, KnownEntity>;
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
  /** Ids that exist in `current` and not in the envelope. */
  gone: string[];
  /** Entities that are as before, but for their upstream key on this branch. */
  renamed: number;
  /** An entity has another upstream key than before. */
  hasNewKeys: boolean;
  /** Ids that are as in `current` but not as in `base`; they were not read, so they are not staged. */
  kept: string[];
  /** Entities that were read, by id. */
  read: ReadonlyMap<string, KnownEntity>;
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
  const kept: string[] = [];
  const tally = createTally(states, known, problems, options);
  const stage = createStage(em, problems);
  let position = 0;
  let work = 0;
  /** Counts an entity, and says whether the rest of the process is to have its turn. */
  const moveOn = (more: number): boolean => {
    position++;
    work += more;
    return work >= workPerTurn;
  };
  const turn = async () => {
    work = 0;
    options.onProgress(position);
    await nextTurn();
    options.signal?.throwIfAborted();
  };
  const passKnown = async () => {
    for (let one = known[position]; one !== undefined; one = known[position]) {
      if (tally.pass(one, position) && tally.isNewToBase(one)) kept.push(one.key);
      if (moveOn(1)) await turn();
    }
  };
  for await (const source of envelope.entities((at) => known[at] === undefined)) {
    if (known[position] !== undefined) await passKnown();
    const at = position;
    if (moveOn(readingWork)) await turn();
    if (position > maxEntities) break;
    const entity = await prepareEntity(source, position, context);
    if (entity === null) continue;
    const { key, upstreamKey, hash } = entity;
    if (!tally.add({ key, upstreamKey, hash, digest: digests[at] ?? "" }, at)) continue;
    if (states.isWritable) await stage.add(entity, states);
  }
  await passKnown();
  options.onProgress(position);
  if (position > maxEntities) problems.add("entities", "", `are more than ${maxEntities}`);
  const found = tally.finish();
  if (problems.count === 0) await stage.flush();
  return { ...found, kept, hasNewKeys: stage.hasNewKeys() };
}

/**
 * Counts the entities by what happens to them. Ids and upstream keys may come once. Known entities are of one
 * state, so they only collide with what was read or with themselves, and nothing is kept of each of them until
 * something read makes it possible.
 */
function createTally(
  { current, base }: ComparedStates,
  known: readonly (KnownEntity | undefined)[],
  problems: ProblemList,
  { onChange }: CompareOptions,
) {
  const read = new Map<string, KnownEntity>();
  const readUpstreamKeys = new Set<string>();
  const familiar = known.filter((one) => one !== undefined);
  const comes = new Set(familiar);
  const hasTwins = comes.size < familiar.length;
  let knownUpstreamKeys: ReadonlySet<string> | null = null;
  /** What has come so far, once that has to be looked at. */
  let seen: { keys: Set<string>; upstreamKeys: Set<string> } | null = null;
  const toCurrent = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const toBase = { added: 0, changed: 0, removed: 0 };
  let renamed = 0;
  const hasSeparateBase = base !== current;
  const mayCollide = ({ key, upstreamKey }: KnownEntity): boolean => {
    if (read.has(key) || readUpstreamKeys.has(upstreamKey)) return true;
    const before = current.get(key);
    if (before !== undefined && comes.has(before)) return true;
    if (before?.upstreamKey === upstreamKey) return false;
    knownUpstreamKeys ??= new Set(familiar.map((one) => one.upstreamKey));
    return knownUpstreamKeys.has(upstreamKey);
  };
  const isCollision = (entity: KnownEntity, position: number, isDoubtful: boolean): boolean => {
    if (seen === null && !isDoubtful) return false;
    if (seen === null) {
      const passed = known.slice(0, position).filter((one) => one !== undefined);
      const all = [...passed, ...read.values()];
      seen = {
        keys: new Set(all.map((one) => one.key)),
        upstreamKeys: new Set(all.map((one) => one.upstreamKey)),
      };
    }
    const { key, upstreamKey } = entity;
    const isKnown = !isNew(seen.keys, key);
    const isFree = isNew(seen.upstreamKeys, upstreamKey);
    if (isKnown) problems.add(key, "", `comes twice, again as ${upstreamKey}`);
    else if (!isFree) problems.add(key, "upstream_key", `${upstreamKey} comes twice`);
    return isKnown;
  };
  const count = ({ key, hash }: KnownEntity, op: "added" | "changed" | "unchanged") => {
    toCurrent[op]++;
    if (op !== "unchanged") onChange(op, key);
    const baseOp = hasSeparateBase ? opOf(base.get(key), hash) : op;
    if (baseOp !== "unchanged") toBase[baseOp]++;
  };
  return {
    isNewToBase: ({ key, hash }: KnownEntity) => hasSeparateBase && base.get(key)?.hash !== hash,
    /** Takes an entity that is as it was; false when its id came before. */
    pass(entity: KnownEntity, position: number): boolean {
      if (isCollision(entity, position, hasTwins)) return false;
      count(entity, "unchanged");
      return true;
    },
    /** Takes an entity that was read; false when its id came before. */
    add(entity: KnownEntity, position: number): boolean {
      if (isCollision(entity, position, mayCollide(entity))) return false;
      read.set(entity.key, entity);
      readUpstreamKeys.add(entity.upstreamKey);
      const before = current.get(entity.key);
      const op = opOf(before, entity.hash);
      if (op === "unchanged" && before?.upstreamKey !== entity.upstreamKey) renamed++;
      count(entity, op);
      return true;
    },
    /** The numbers, and what is missing; entities with problems are missing as well, but then nobody asks. */
    finish(): Omit<Comparison, "kept" | "hasNewKeys"> {
      const isWhole = toCurrent.changed + toCurrent.unchanged === current.size;
      const isThere = (key: string) => {
        const one = current.get(key);
        return read.has(key) || (one !== undefined && comes.has(one));
      };
      const gone = isWhole ? [] : missing(current, isThere);
      if (problems.count === 0) for (const key of gone) onChange("removed", key);
      const removed = hasSeparateBase ? missing(base, isThere) : gone;
      return {
        toCurrent: { ...toCurrent, removed: gone.length },
        toBase: { ...toBase, removed: removed.length },
        removed,
        gone,
        renamed,
        read,
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

const missing = (state: ReadonlyMap<string, KeptEntity>, isThere: (key: string) => boolean) =>
  [...state.keys()].filter((key) => !isThere(key)).sort();

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
