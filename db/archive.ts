import type { EntityManager } from "@mikro-orm/postgresql";
import type { ConcurrencyLimiter } from "../server/platform/cache/concurrency-limiter.ts";
import type { ByteLruCache } from "../server/platform/cache/byte-lru-cache.ts";
import type { CodexGame } from "./queries/archive/codex-directory.ts";
import type { DiffPair } from "./queries/archive/codex-diff.ts";

export type Games = ReadonlyMap<string, CodexGame>;

/** A finished answer; small ones are text, which is cheaper to put into an envelope. */
export interface ArchiveBody {
  content: string | Buffer;
  etag: string;
  /** Media type, where it is not JSON. */
  type?: string;
}

/** What a process keeps of the archive, so that most reads ask no store. */
export interface Archive {
  /** Games by slug, in order of slug, at most a second old; mostly at once. */
  games(): Games | Promise<Games>;
  /** Reads the games anew: somebody saw that they have moved on. */
  reload(): Promise<Games>;
  bodies: ByteLruCache<ArchiveBody>;
  /** What differs between two patches, without content. */
  pairs: ByteLruCache<readonly DiffPair[]>;
  /** Numbers of the entities that a search finds, rising. */
  lists: ByteLruCache<Int32Array>;
  /** Passed by whoever builds a large document. */
  builds: ConcurrencyLimiter;
  /** Passed by what looks into every document of a type: all other reads need connections as well. */
  scans: ConcurrencyLimiter;
  /** A connection's worth of queries of its own. */
  fork(): EntityManager;
}
