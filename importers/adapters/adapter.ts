import type { ImportEnvelope } from "../envelope/contract.ts";

/** The game to import into. */
export interface ImportTarget {
  game: string;
  /** Entity ids by upstream key, former keys included, in lower case; empty for a game without imports. */
  knownIds(): Promise<ReadonlyMap<string, string>>;
}

/** Reads the files of one game as upstream publishes them. It has no access to the database. */
export interface Adapter {
  /** Slug of the game, as given to `npm run import`. */
  game: string;
  /** One envelope per patch, each branch after its parent, oldest patch first. */
  read(sourceDir: string, target: ImportTarget): AsyncIterable<ImportEnvelope>;
}

export function defineAdapter(adapter: Adapter): Adapter {
  return adapter;
}
