import { setImmediate as nextTick } from "node:timers/promises";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { KnownEntity } from "../../../db/queries/archive/codex-sources.ts";
import { maxEntities } from "../../envelope/contract.ts";
import type { CheckedEnvelope } from "../check.ts";
import { UniqueKeys } from "../check/unique-keys.ts";
import type { ComparedStates } from "./compared-states.ts";
import { DifferenceCounter } from "./difference-counter.ts";
import type { Counts, ImportOp } from "./import-plan.ts";
import { StagingBuffer } from "./staging-buffer.ts";

/**
 * Work between two yields to the event loop, in known entities, and the work of reading one: other requests
 * wait 50 ms at most (`bench -- codex` of 78e86f62, "worst list meanwhile").
 */
const workPerYield = 4_096;
const readingWork = 16;

export interface Comparison {
  /** Against the current state. */
  toCurrent: Counts & { unchanged: number };
  /** Against the patch before. */
  toBase: Counts;
  /** Ids of `base` that are missing in the envelope. */
  removed: string[];
  /** Ids of `current` that are missing in the envelope. */
  gone: string[];
  /** Unchanged entities with a new upstream key on this branch. */
  renamed: number;
  /** Changed entities that differ by keys which versions before COD-21 lost. */
  moved: number;
  /** Whether an entity has another upstream key than before. */
  hasNewKeys: boolean;
  /** Ids that equal `current` and differ from `base`; they were not read, so they are not staged. */
  kept: string[];
  /** Number of staged entities. */
  staged: number;
  /** Entities that were read, by id. */
  read: ReadonlyMap<string, KnownEntity>;
}

export interface CompareOptions {
  signal?: AbortSignal | undefined;
  onProgress?: (done: number) => void;
  /** Called for each difference to the current state. */
  onChange?: (op: ImportOp, id: string) => void;
}

/**
 * Checks and compares the entities of an envelope, one at a time. Entities with a known digest are not read.
 * Differing entities go to the staging table of the transaction, so memory holds digests and keys only.
 */
export async function compareEntities(
  em: EntityManager,
  checked: CheckedEnvelope,
  states: ComparedStates,
  options: CompareOptions,
): Promise<Comparison> {
  const { envelope, problems } = checked;
  const { onChange = () => {} } = options;
  const { digests = [] } = envelope;
  const known = digests.map((digest) => states.known.get(digest));
  const keys = new UniqueKeys(known, states.current, problems);
  const counter = new DifferenceCounter(states, onChange);
  const staging = new StagingBuffer(em, states, problems);
  const cursor = new EntityCursor(options);
  const kept: string[] = [];
  const passKnown = async () => {
    for (let one = known[cursor.position]; one !== undefined; one = known[cursor.position]) {
      if (keys.addKnown(one, cursor.position)) {
        counter.addKnown(one);
        if (counter.isNewToBase(one)) kept.push(one.key);
      }
      if (cursor.advance(1)) await cursor.yield();
    }
  };
  for await (const source of envelope.entities((at) => known[at] === undefined)) {
    if (known[cursor.position] !== undefined) await passKnown();
    const at = cursor.position;
    if (cursor.advance(readingWork)) await cursor.yield();
    if (at >= maxEntities) break;
    const entity = await checked.checkEntity(source, at + 1);
    if (entity === null) continue;
    const { key, upstreamKey, hash } = entity;
    const facts = { key, upstreamKey, hash, digest: digests[at] ?? "" };
    if (!keys.addRead(facts, at)) continue;
    counter.addRead(facts, entity.formerHash);
    if (states.isWritable) await staging.add(entity);
  }
  await passKnown();
  options.onProgress?.(cursor.position);
  if (cursor.position > maxEntities) problems.add("entities", "", `are more than ${maxEntities}`);
  const { gone, removed } = counter.addMissing((key) => keys.has(key));
  if (problems.count === 0) {
    // Entities with problems would count as missing.
    for (const key of gone) onChange("removed", key);
    await staging.flush();
  }
  const { toCurrent, toBase, renamed, moved } = counter;
  const { count: staged, numRenamed } = staging;
  const counts = { toCurrent, toBase, renamed, moved, hasNewKeys: numRenamed > 0, staged };
  return { ...counts, gone, removed, kept, read: keys.read };
}

/** Position in the entities of an envelope; yields to the event loop after enough work. */
class EntityCursor {
  position = 0;
  #work = 0;
  readonly #options: CompareOptions;

  constructor(options: CompareOptions) {
    this.#options = options;
  }

  /** Whether it is time to yield. */
  advance(work: number): boolean {
    this.position++;
    this.#work += work;
    return this.#work >= workPerYield;
  }

  async yield(): Promise<void> {
    this.#work = 0;
    this.#options.onProgress?.(this.position);
    await nextTick();
    this.#options.signal?.throwIfAborted();
  }
}
