import type { KeptEntity } from "../../../db/queries/archive/codex-import.ts";
import type { KnownEntity } from "../../../db/queries/archive/codex-sources.ts";
import type { ComparedStates } from "./compared-states.ts";
import type { Counts, ImportOp } from "./import-plan.ts";

const noCounts = (): Counts => ({ added: 0, changed: 0, removed: 0 });

/** Counts the entities of an envelope by their difference to the current state and to the patch before. */
export class DifferenceCounter {
  readonly toCurrent = { ...noCounts(), unchanged: 0 };
  readonly toBase = noCounts();
  /** Unchanged entities with a new upstream key. */
  renamed = 0;
  /** Changed entities that equal the current state in the form of versions before COD-21. */
  moved = 0;
  readonly #states: ComparedStates;
  readonly #onChange: (op: ImportOp, id: string) => void;
  /** Only a patch that is replaced has a state before it besides the current one. */
  readonly #hasSeparateBase: boolean;

  constructor(states: ComparedStates, onChange: (op: ImportOp, id: string) => void) {
    this.#states = states;
    this.#onChange = onChange;
    this.#hasSeparateBase = states.base !== states.current;
  }

  addKnown(entity: KnownEntity): void {
    this.#count(entity, "unchanged");
  }

  addRead(entity: KnownEntity, formerHash?: string): void {
    const before = this.#states.current.get(entity.key);
    const isMoved = formerHash !== undefined && before?.hash === formerHash;
    if (isMoved && !this.#states.isFixed) this.moved++;
    const op = isMoved && this.#states.isFixed ? "unchanged" : opOf(before, entity.hash);
    if (op === "unchanged" && before?.upstreamKey !== entity.upstreamKey) this.renamed++;
    this.#count(entity, op);
  }

  isNewToBase({ key, hash }: KnownEntity): boolean {
    return this.#hasSeparateBase && this.#states.base.get(key)?.hash !== hash;
  }

  /** Ids of both states that are missing in the envelope; to be called after its last entity. */
  addMissing(isPresent: (key: string) => boolean): { gone: string[]; removed: string[] } {
    const { current, base } = this.#states;
    const isComplete = this.toCurrent.changed + this.toCurrent.unchanged === current.size;
    const gone = isComplete ? [] : missing(current, isPresent);
    const removed = this.#hasSeparateBase ? missing(base, isPresent) : gone;
    this.toCurrent.removed = gone.length;
    this.toBase.removed = removed.length;
    return { gone, removed };
  }

  #count({ key, hash }: KnownEntity, op: "added" | "changed" | "unchanged"): void {
    this.toCurrent[op]++;
    if (op !== "unchanged") this.#onChange(op, key);
    const baseOp = this.#hasSeparateBase ? opOf(this.#states.base.get(key), hash) : op;
    if (baseOp !== "unchanged") this.toBase[baseOp]++;
  }
}

function opOf(before: KeptEntity | undefined, hash: string): "added" | "changed" | "unchanged" {
  if (before === undefined) return "added";
  return before.hash === hash ? "unchanged" : "changed";
}

const missing = (state: ReadonlyMap<string, KeptEntity>, isPresent: (key: string) => boolean) =>
  [...state.keys()].filter((key) => !isPresent(key)).sort();
