import { hash } from "node:crypto";

/** A finished response body and its entity tag. */
export interface CachedBody {
  json: string;
  etag: string;
}

export interface BodyCache {
  /** The body of this key, made anew when it is older than `ttlMs`; callers at the same time share one making. */
  get(key: string, ttlMs: number, make: () => Promise<string>): Promise<CachedBody>;
}

/** Bodies kept; past it the oldest is forgotten. */
const maxBodies = 512;

interface Entry {
  body: Promise<CachedBody>;
  madeAt: number;
}

/** Bodies that are the same for everyone, kept for seconds in this process. */
export function createBodyCache(): BodyCache {
  const entries = new Map<string, Entry>();

  function make(key: string, produce: () => Promise<string>): Promise<CachedBody> {
    const body = produce().then((json) => ({ json, etag: `"${hash("sha1", json, "base64url")}"` }));
    const entry = { body, madeAt: performance.now() };
    entries.delete(key);
    if (entries.size >= maxBodies) {
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    }
    entries.set(key, entry);
    // A failure is not kept: the next caller tries again.
    body.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return body;
  }

  return {
    get(key, ttlMs, produce) {
      const known = entries.get(key);
      if (known && performance.now() - known.madeAt < ttlMs) return known.body;
      return make(key, produce);
    },
  };
}
