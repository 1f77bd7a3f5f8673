import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import type { CodexGame } from "../../../../db/queries/archive/codex-directory.ts";
import { gamesLeaseMs, readLeasedGames } from "../../../../db/queries/archive/codex-lease.ts";
import type { DiffPair } from "../../../../db/queries/archive/codex-diff.ts";
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from "../../../platform/tasks/concurrency-limiter.ts";
import { LeasedValue } from "../../../platform/cache/leased-value.ts";
import type { Metrics } from "../../../platform/metrics/metrics.ts";
import { createByteLruCache, type ByteLruCache } from "../../../platform/cache/byte-lru-cache.ts";

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
  /** Games by slug, in order of slug: never older than an import or rebuild that was done before the call (COD-22). */
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

/** A cached entity takes 11 µs, an uncached one 450 (`bench -- codex` of 78e86f62). */
const maxBodyBytes = 64 * 1024 * 1024;
/** Comparing two states of 20,000 entities takes 83 ms, without the cache for each page of a changelog. */
const maxPairBytes = 16 * 1024 * 1024;
/** A search through 20,000 entities takes 21 ms, without the cache for each of its pages; a cached page takes 2. */
const maxListBytes = 16 * 1024 * 1024;
/** Bytes of a pair besides its texts. */
const pairBytes = 96;
/** Concurrent builds of large documents, and queued requests. */
const builds = { running: 2, waiting: 32 };
/** The same for lists whose filters read documents. */
const scans = { running: 2, waiting: 100 };

export interface ArchiveOptions {
  orm: MikroORM;
  metrics: Metrics;
}

/** The archive reader of one process. It queries no store before the first read. */
export function createArchive({ orm, metrics }: ArchiveOptions): Archive {
  const count = (kind: string) => {
    const hits = metrics.archiveCache.labels({ kind, outcome: "hit" });
    const misses = metrics.archiveCache.labels({ kind, outcome: "miss" });
    return (isHit: boolean) => (isHit ? hits : misses).inc();
  };
  const games = new LeasedValue<Games>({
    leaseMs: gamesLeaseMs,
    read: (held) => readLeasedGames(orm.em.fork(), held),
  });
  return {
    games: () => games.get(),
    reload: () => games.refresh(),
    bodies: createByteLruCache({
      maxBytes: maxBodyBytes,
      // A string takes up to two bytes a character.
      sizeOf: ({ content }) => (typeof content === "string" ? 2 : 1) * content.length,
      onUse: count("body"),
    }),
    pairs: createByteLruCache({
      maxBytes: maxPairBytes,
      sizeOf: (pairs) => pairs.reduce((sum, { key }) => sum + pairBytes + key.length, 0),
      onUse: count("pairs"),
    }),
    lists: createByteLruCache({
      maxBytes: maxListBytes,
      sizeOf: (ids) => ids.byteLength,
      onUse: count("lists"),
    }),
    builds: createConcurrencyLimiter(builds),
    scans: createConcurrencyLimiter(scans),
    fork: () => orm.em.fork(),
  };
}
