import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A finished response body and its entity tag. */
export interface CachedBody {
  json: string;
  etag: string;
}

export interface BodyCache {
  /**
   * What `present` makes of the body of this key, at once when it is known. A body older than `ttlMs` (at least 1)
   * is made anew; callers at the same time share one making, and a failure is not kept.
   */
  use<T>(
    key: string,
    ttlMs: number,
    make: () => Promise<string>,
    present: (body: CachedBody) => T,
  ): T | Promise<T>;
}

/** Bodies kept; past it the one that was not used for longest is forgotten. */
const maxBodies = 512;

/** Bodies that are the same for everyone, kept for seconds in this process. */
export function createBodyCache(clock: { now(): number } = performance): BodyCache {
  const cache = new LRUCache<string, CachedBody, () => Promise<string>>({
    max: maxBodies,
    perf: clock,
    ttlResolution: 0,
    fetchMethod: async (_key, _stale, { context: make }) => {
      const json = await make();
      return { json, etag: `"${hash("sha1", json, "base64url")}"` };
    },
  });
  return {
    use(key, ttlMs, make, present) {
      const known = cache.get(key);
      if (known !== undefined) return present(known);
      return cache.forceFetch(key, { context: make, ttl: ttlMs }).then(present);
    },
  };
}
