import type { EntityManager } from "@mikro-orm/postgresql";
import type { ConcurrencyLimiter } from "../server/platform/cache/concurrency-limiter.ts";
import type { ByteLruCache } from "../server/platform/cache/byte-lru-cache.ts";
import type { CodexGame } from "./queries/archive/codex-directory.ts";
import type { DiffPair } from "./queries/archive/codex-diff.ts";

export type Games = ReadonlyMap<string, CodexGame>;

/** A complete response body; small ones are text, which is cheaper to wrap in an envelope. */
export interface ArchiveBody {
  content: string | Buffer;
  etag: string;
  /** Media type, if not JSON. */
  type?: string;
}

/** The archive caches of a process, which answer most reads without a store. */
export interface Archive {
  /** Games by slug, in order of slug, at most a second old. */
  games(): Promise<Games>;
  /** Reads the games again, after a caller has seen a newer generation. */
  reload(): Promise<Games>;
  bodies: ByteLruCache<ArchiveBody>;
  /** Differences between two patches, without content. */
  pairs: ByteLruCache<readonly DiffPair[]>;
  /** Ascending entity ids found by searches. */
  lists: ByteLruCache<Int32Array>;
  /** Limits how many large documents are built at once. */
  builds: ConcurrencyLimiter;
  /** Limits scans over all documents of a type, so that other reads still get connections. */
  scans: ConcurrencyLimiter;
  /** A fork of the EntityManager with its own connection. */
  fork(): EntityManager;
}
