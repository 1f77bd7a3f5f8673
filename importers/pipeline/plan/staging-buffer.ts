import type { EntityManager } from "@mikro-orm/postgresql";
import { stageEntities, type StagedEntity } from "../../../db/queries/archive/codex-staging.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import { maxEntityBytes, type PreparedEntity } from "../check/prepare-entity.ts";
import type { ComparedStates } from "./compared-states.ts";

/**
 * Entities, and characters of them, in one statement: single inserts take twelve times the processor (157
 * against 13 µs an entity; `npm run bench -- micro archive`, "first import").
 */
const maxBuffered = 500;
const maxBufferedLength = 2 * 1024 * 1024;

/** Writes differing entities to the staging table of the transaction, in batches. */
export class StagingBuffer {
  /** Entities in the staging table and in the buffer. */
  count = 0;
  /** Entities with another upstream key than before. */
  numRenamed = 0;
  readonly #em: EntityManager;
  readonly #states: ComparedStates;
  readonly #problems: ProblemList;
  #buffered: StagedEntity[] = [];
  #length = 0;

  constructor(em: EntityManager, states: ComparedStates, problems: ProblemList) {
    this.#em = em;
    this.#states = states;
    this.#problems = problems;
  }

  async add(entity: PreparedEntity): Promise<void> {
    const base = this.#states.base.get(entity.key);
    const current = this.#states.current.get(entity.key);
    const isChanged = base?.hash !== entity.hash;
    const isRenamed = current !== undefined && current.upstreamKey !== entity.upstreamKey;
    if (isRenamed) this.numRenamed++;
    const isCurrent = !isChanged && !isRenamed && current?.hash === entity.hash;
    if (isCurrent && !this.#states.hasNewTexts) return;
    const { key, type, upstreamKey, hash } = entity;
    const { body, words } = entity.content();
    if (Buffer.byteLength(body) > maxEntityBytes)
      this.#problems.add(key, "", `has more than ${maxEntityBytes} bytes`);
    // A refused envelope writes nothing.
    if (this.#problems.count > 0) return;
    this.#buffered.push({ key, type, upstreamKey, hash, body, words, isChanged });
    this.#length += body.length;
    this.count++;
    if (this.#buffered.length >= maxBuffered || this.#length >= maxBufferedLength)
      await this.flush();
  }

  async flush(): Promise<void> {
    await stageEntities(this.#em, this.#buffered);
    this.#buffered = [];
    this.#length = 0;
  }
}
