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

/** What was read of a state so far; an absent key was not looked up yet. */
export interface Shelf {
  readonly entities: Map<string, Source | null>;
  readonly texts: { get(key: string): Localized | null | undefined };
  readonly icons: Map<string, Icon | null>;
}

/** Keys a row asked for that the shelf does not have yet. */
export interface Wants {
  readonly entities: Set<string>;
  readonly texts: Set<string>;
  readonly icons: Set<string>;
}

export const noWants = (): Wants => ({
  entities: new Set(),
  texts: new Set(),
  icons: new Set(),
});

export const hasWants = ({ entities, texts, icons }: Wants): boolean =>
  entities.size + texts.size + icons.size > 0;

/** The scope of one row on a shelf; it notes what was asked for, and what is missing. */
export class ShelfScope implements Scope {
  readonly source: Source;
  /** Ids of the other entities that were asked for, there or not. */
  readonly companions = new Set<string>();
  readonly textKeys = new Set<string>();
  private readonly shelf: Shelf;
  private readonly wants: Wants;

  constructor(source: Source, shelf: Shelf, wants: Wants) {
    this.source = source;
    this.shelf = shelf;
    this.wants = wants;
  }

  entity(id: unknown): Source | null {
    if (typeof id !== "string" || id === "") return null;
    this.companions.add(id);
    const found = this.shelf.entities.get(id);
    if (found === undefined) this.wants.entities.add(id);
    return found == null || found.hash === null ? null : found;
  }

  text(key: unknown): Localized | null {
    if (typeof key !== "string" || key === "") return null;
    this.textKeys.add(key);
    const found = this.shelf.texts.get(key);
    if (found === undefined) this.wants.texts.add(key);
    return found ?? null;
  }

  icon(hash: string | null): Icon | null {
    if (hash === null) return null;
    const found = this.shelf.icons.get(hash);
    if (found === undefined) this.wants.icons.add(hash);
    return found ?? null;
  }
}
