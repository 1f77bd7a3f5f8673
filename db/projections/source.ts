/** A text in every available language, by lower-case code. */
export type Localized = Readonly<Record<string, string>>;

export interface Icon {
  hash: string;
  url: string;
  media_type: string;
  bytes: number;
}

/** An archive entity in some state, as the projection reads it. */
export interface Source {
  id: string;
  type: string;
  upstreamKey: string | null;
  /** SHA-256 hex of its content; null if it is removed. */
  hash: string | null;
  /** Canonical version of the patch that led to this state, and that patch's position in the line. */
  version: string;
  ord: number;
  data: Readonly<Record<string, unknown>>;
  iconHash: string | null;
}

/**
 * The inputs available to one row. Every value read is recorded as an input; when one of them changes, the
 * row is projected again.
 */
export interface Scope {
  /** The entity of the row. */
  readonly source: Source;
  /** Null if it does not exist. */
  entity(id: unknown): Source | null;
  text(key: unknown): Localized | null;
  icon(hash: string | null): Icon | null;
}

/** The loaded part of a state; absent keys are not loaded. */
export interface ReadContext {
  readonly entities: Map<string, Source | null>;
  readonly texts: { get(key: string): Localized | null | undefined };
  readonly icons: Map<string, Icon | null>;
}

/** Keys a row has read that the context has not loaded. */
export interface RequiredInputs {
  readonly entities: Set<string>;
  readonly texts: Set<string>;
  readonly icons: Set<string>;
}

export const noRequiredInputs = (): RequiredInputs => ({
  entities: new Set(),
  texts: new Set(),
  icons: new Set(),
});

export const hasRequiredInputs = ({ entities, texts, icons }: RequiredInputs): boolean =>
  entities.size + texts.size + icons.size > 0;

/** The scope of one row in a read context. It records each key read, and each key that is not loaded. */
export class ReadContextScope implements Scope {
  readonly source: Source;
  /** Ids of the other entities that were read, existing or not. */
  readonly companions = new Set<string>();
  readonly textKeys = new Set<string>();
  readonly #context: ReadContext;
  readonly #required: RequiredInputs;

  constructor(source: Source, context: ReadContext, required: RequiredInputs) {
    this.source = source;
    this.#context = context;
    this.#required = required;
  }

  entity(id: unknown): Source | null {
    if (typeof id !== "string" || id === "") return null;
    this.companions.add(id);
    const found = this.#context.entities.get(id);
    if (found === undefined) this.#required.entities.add(id);
    return found == null || found.hash === null ? null : found;
  }

  text(key: unknown): Localized | null {
    if (typeof key !== "string" || key === "") return null;
    this.textKeys.add(key);
    const found = this.#context.texts.get(key);
    if (found === undefined) this.#required.texts.add(key);
    return found ?? null;
  }

  icon(hash: string | null): Icon | null {
    if (hash === null) return null;
    const found = this.#context.icons.get(hash);
    if (found === undefined) this.#required.icons.add(hash);
    return found ?? null;
  }
}
