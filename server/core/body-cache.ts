import { hash } from "node:crypto";

/** A finished response body and its entity tag. */
export interface CachedBody {
  json: string;
  etag: string;
}

export interface BodyCache {
  /**
   * What `present` makes of the body of this key, at once when it is known. A body older than `ttlMs` is
   * made anew; callers at the same time share one making.
   */
  use<T>(
    key: string,
    ttlMs: number,
    make: () => Promise<string>,
    present: (body: CachedBody) => T,
  ): T | Promise<T>;
}

/** Bodies kept; past it the oldest is forgotten. */
const maxBodies = 512;

interface Entry {
  /** The body, or its making. */
  body: CachedBody | Promise<CachedBody>;
  madeAt: number;
}

/** Bodies that are the same for everyone, kept for seconds in this process. */
export function createBodyCache(): BodyCache {
  const entries = new Map<string, Entry>();

  function make(key: string, produce: () => Promise<string>): Promise<CachedBody> {
    const making = produce().then((json) => ({
      json,
      etag: `"${hash("sha1", json, "base64url")}"`,
    }));
    const entry: Entry = { body: making, madeAt: performance.now() };
    entries.delete(key);
    if (entries.size >= maxBodies) {
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    }
    entries.set(key, entry);
    making.then(
      (body) => (entry.body = body),
      // A failure is not kept: the next caller tries again.
      () => entries.get(key) === entry && entries.delete(key),
    );
    return making;
  }

  return {
    use(key, ttlMs, produce, present) {
      const known = entries.get(key);
      const isFresh = known !== undefined && performance.now() - known.madeAt < ttlMs;
      const body = isFresh ? known.body : make(key, produce);
      return body instanceof Promise ? body.then(present) : present(body);
    },
  };
}
