import type { KnownEntity } from "../../../db/queries/archive/codex-sources.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";

/**
 * Finds ids and upstream keys that come twice in an envelope. Known entities belong to one state of the archive,
 * so they collide only with entities that were read, or with a second copy of themselves. The set of all keys is
 * therefore built only after the first possible collision.
 */
export class UniqueKeys {
  /** Entities that were read, by id. */
  readonly read = new Map<string, KnownEntity>();
  readonly #problems: ProblemList;
  readonly #current: ReadonlyMap<string, KnownEntity>;
  /** By position in the envelope; undefined for entities that are read. */
  readonly #known: readonly (KnownEntity | undefined)[];
  readonly #knownSet: ReadonlySet<KnownEntity>;
  readonly #hasTwins: boolean;
  readonly #readUpstreamKeys = new Set<string>();
  #knownUpstreamKeys: ReadonlySet<string> | null = null;
  #seen: { keys: Set<string>; upstreamKeys: Set<string> } | null = null;

  constructor(
    known: readonly (KnownEntity | undefined)[],
    current: ReadonlyMap<string, KnownEntity>,
    problems: ProblemList,
  ) {
    this.#known = known;
    this.#current = current;
    this.#problems = problems;
    const present = known.filter((one) => one !== undefined);
    this.#knownSet = new Set(present);
    this.#hasTwins = this.#knownSet.size < present.length;
  }

  /** Adds a known entity; false for an id that came before. */
  addKnown(entity: KnownEntity, position: number): boolean {
    return !this.#isRepeated(entity, position, this.#hasTwins);
  }

  /** Adds an entity that was read; false for an id that came before. */
  addRead(entity: KnownEntity, position: number): boolean {
    if (this.#isRepeated(entity, position, this.#mayCollide(entity))) return false;
    this.read.set(entity.key, entity);
    this.#readUpstreamKeys.add(entity.upstreamKey);
    return true;
  }

  /** Whether the envelope has this id; correct after its last entity. */
  has(key: string): boolean {
    const current = this.#current.get(key);
    return this.read.has(key) || (current !== undefined && this.#knownSet.has(current));
  }

  #mayCollide({ key, upstreamKey }: KnownEntity): boolean {
    if (this.read.has(key) || this.#readUpstreamKeys.has(upstreamKey)) return true;
    const current = this.#current.get(key);
    if (current !== undefined && this.#knownSet.has(current)) return true;
    if (current?.upstreamKey === upstreamKey) return false;
    this.#knownUpstreamKeys ??= new Set([...this.#knownSet].map((one) => one.upstreamKey));
    return this.#knownUpstreamKeys.has(upstreamKey);
  }

  #isRepeated(entity: KnownEntity, position: number, mayCollide: boolean): boolean {
    if (this.#seen === null && !mayCollide) return false;
    this.#seen ??= this.#collectSeen(position);
    const { key, upstreamKey } = entity;
    const isNewKey = addNew(this.#seen.keys, key);
    const isNewUpstreamKey = addNew(this.#seen.upstreamKeys, upstreamKey);
    if (!isNewKey) this.#problems.add(key, "", `comes twice, again as ${upstreamKey}`);
    else if (!isNewUpstreamKey)
      this.#problems.add(key, "upstream_key", `${upstreamKey} comes twice`);
    return !isNewKey;
  }

  #collectSeen(position: number) {
    const passed = this.#known.slice(0, position).filter((one) => one !== undefined);
    const all = [...passed, ...this.read.values()];
    return {
      keys: new Set(all.map((one) => one.key)),
      upstreamKeys: new Set(all.map((one) => one.upstreamKey)),
    };
  }
}

/** False for a text that the set has; a lookup before the insert would double the cost. */
function addNew(texts: Set<string>, text: string): boolean {
  const { size } = texts;
  texts.add(text);
  return texts.size > size;
}
