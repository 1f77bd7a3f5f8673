/** A text in every language that has it, by lower-case code. */
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
  /** SHA-256 hex of its content; null when it was removed. */
  hash: string | null;
  /** Canonical version of the patch that brought this state, and the place of that patch in the line. */
  version: string;
  ord: number;
  data: Readonly<Record<string, unknown>>;
  iconHash: string | null;
}

/**
 * What one row may look at. Everything asked for counts as an input of the row: when one of them is another,
 * the row is made again.
 */
export interface Scope {
  /** The entity the row is of. */
  readonly source: Source;
  /** Null when there is none. */
  entity(id: unknown): Source | null;
  text(key: unknown): Localized | null;
  icon(hash: string | null): Icon | null;
}

/** What was read of a state so far; an absent key was not read yet. */
export interface ReadContext {
  readonly entities: Map<string, Source | null>;
  readonly texts: { get(key: string): Localized | null | undefined };
  readonly icons: Map<string, Icon | null>;
}

/** Keys a row read that the context has not loaded yet. */
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

/** The scope of one row in a read context; it records each key read, and each one not loaded yet. */
export class ReadContextScope implements Scope {
  readonly source: Source;
  /** Ids of the other entities that were asked for, there or not. */
  readonly companions = new Set<string>();
  readonly textKeys = new Set<string>();
  private readonly context: ReadContext;
  private readonly required: RequiredInputs;

  constructor(source: Source, context: ReadContext, required: RequiredInputs) {
    this.source = source;
    this.context = context;
    this.required = required;
  }

  entity(id: unknown): Source | null {
    if (typeof id !== "string" || id === "") return null;
    this.companions.add(id);
    const found = this.context.entities.get(id);
    if (found === undefined) this.required.entities.add(id);
    return found == null || found.hash === null ? null : found;
  }

  text(key: unknown): Localized | null {
    if (typeof key !== "string" || key === "") return null;
    this.textKeys.add(key);
    const found = this.context.texts.get(key);
    if (found === undefined) this.required.texts.add(key);
    return found ?? null;
  }

  icon(hash: string | null): Icon | null {
    if (hash === null) return null;
    const found = this.context.icons.get(hash);
    if (found === undefined) this.required.icons.add(hash);
    return found ?? null;
  }
}
