import type { MikroORM } from "@mikro-orm/postgresql";
import { LRUCache } from "lru-cache";
import { findKnownKey, recordKeyUse } from "../../../../db/queries/keys/api-keys.ts";
import {
  withRightSecret,
  type ApiKeyCache,
  type CachedApiKey,
  type PresentedKey,
} from "../../../platform/security/api-keys.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import {
  createConcurrencyLimiter,
  type ConcurrencyLimiter,
} from "../../../platform/tasks/concurrency-limiter.ts";
import type { Logger } from "../../../platform/log/logger.ts";

/** Cached keys of a process; beyond it the least recently used one is evicted. */
export const maxCachedKeys = 5_000;
/** With the time a read takes, every change is seen within a second (S10). */
const maxAgeMs = 400;
/** Concurrent reads from Postgres, and requests queued for them. */
const reads = { running: 4, waiting: 256 };

/** Reads from Postgres. Texts that were a valid key have a lane of their own, which a flood of others does not block. */
interface Lane {
  limiter: ConcurrencyLimiter;
  /** By prefix: concurrent requests share a read. */
  reading: Map<string, Promise<CachedApiKey | null>>;
}

const createLane = (): Lane => ({ limiter: createConcurrencyLimiter(reads), reading: new Map() });
/** KEY-06 */
const useEveryMs = 60_000;
/** Concurrent writes of `lastUsedAt`; a skipped one is written with a later use. */
const maxUseWrites = 4;

export interface ApiKeyCacheOptions {
  orm: MikroORM;
  clock: Clock;
  log: Logger;
  maxKeys?: number;
}

/** LRU cache of the API keys of one process. Entries are loaded from Postgres at their first use. */
export class LruApiKeyCache implements ApiKeyCache {
  readonly #options: ApiKeyCacheOptions;
  readonly #known: LRUCache<string, CachedApiKey>;
  readonly #lanes = { known: createLane(), unknown: createLane() };
  #useWrites = 0;

  constructor(options: ApiKeyCacheOptions) {
    this.#options = options;
    this.#known = new LRUCache({
      max: options.maxKeys ?? maxCachedKeys,
      ttl: maxAgeMs,
      // A stale entry shows that the key was valid, which selects the lane.
      noDeleteOnStaleGet: true,
    });
  }

  find(presented: PresentedKey): Promise<CachedApiKey | null> | CachedApiKey {
    const { prefix } = presented;
    const last = this.#known.peek(prefix, { allowStale: true }) ?? null;
    // A wrong secret under a cached prefix reads Postgres, as an unknown prefix does (KEY-09).
    const wasRight = withRightSecret(last, presented) !== null;
    const cached = wasRight ? this.#known.get(prefix) : undefined;
    if (cached !== undefined) return cached;
    const lane = wasRight ? this.#lanes.known : this.#lanes.unknown;
    return this.#read(prefix, lane).then((key) => withRightSecret(key, presented));
  }

  recordUse(key: CachedApiKey): void {
    const now = this.#options.clock.now();
    const isRecent = key.lastUsedAt !== null && key.lastUsedAt > now - useEveryMs;
    if (isRecent || this.#useWrites >= maxUseWrites) return;
    key.lastUsedAt = now;
    this.#useWrites += 1;
    const use = { now: new Date(now), before: new Date(now - useEveryMs) };
    recordKeyUse(this.#options.orm.em.fork(), key.id, use)
      .catch((error: unknown) =>
        this.#options.log.warn(
          { event: "key_use_write_failed", key: key.id, reason: String(error) },
          "could not record the use of a key, a later use records it",
        ),
      )
      .finally(() => (this.#useWrites -= 1));
  }

  /** Number of cached keys. */
  size(): number {
    return this.#known.size;
  }

  #read(prefix: string, { limiter, reading }: Lane): Promise<CachedApiKey | null> {
    const work =
      reading.get(prefix) ??
      limiter
        .run(async () => {
          const start = performance.now();
          const key = await findKnownKey(this.#options.orm.em.fork(), prefix);
          if (key === null) this.#known.delete(prefix);
          else this.#known.set(prefix, key, { start });
          return key;
        })
        .finally(() => reading.delete(prefix));
    reading.set(prefix, work);
    return work;
  }
}
