import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A finished response body and its entity tag. */
export interface CachedBody {
  json: string;
  etag: string;
}

export interface ResponseCache {
  /**
   * The body of this key. An entry expires after `ttlMs` (at least 1); concurrent misses share one call of `make`
   * (single-flight), and a failure is not cached. If `make` fails, an expired entry serves for another `ttlMs`: while
   * Postgres is away, an older list is better than a 503.
   */
  fetch(key: string, ttlMs: number, make: () => Promise<string>): Promise<CachedBody>;
}

/** Cached bodies; beyond it the least recently used one is evicted. */
const maxBodies = 512;

/** In-process LRU cache with a TTL for response bodies that are the same for every caller. */
export function createResponseCache(clock: { now(): number } = performance): ResponseCache {
  const cache = new LRUCache<string, CachedBody, () => Promise<string>>({
    max: maxBodies,
    perf: clock,
    ttlResolution: 0,
    noDeleteOnStaleGet: true,
    fetchMethod: async (_key, expired, { context: make }) => {
      try {
        const json = await make();
        return { json, etag: `"${hash("sha1", json, "base64url")}"` };
      } catch (error) {
        if (expired) return expired;
        throw error;
      }
    },
  });
  return {
    async fetch(key, ttlMs, make) {
      return cache.get(key) ?? cache.forceFetch(key, { context: make, ttl: ttlMs });
    },
  };
}
