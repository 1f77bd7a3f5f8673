import { LRUCache } from "lru-cache";
import { withTimeout } from "../../platform/time/deadline.ts";
import { identityMs } from "./ended-sessions.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";

const maxCached = 100;
/** A token that was revoked meanwhile may read for as long while Postgres is away. */
const cachedMs = 3_600_000;

export type FindOperator = (hash: string) => Promise<OperatorCaller | null>;

/**
 * Finds operators for requests that only read: while Postgres does not respond, as those who were found in the last
 * hour, and then as viewers, since a change would need its audit record (OPS-96).
 */
export function cacheOperators(find: FindOperator): FindOperator {
  const found = new LRUCache<string, OperatorCaller>({ max: maxCached, ttl: cachedMs });
  return async (hash) => {
    const known = found.get(hash);
    try {
      // Without an earlier answer to fall back on, waiting is better: the first lookup also loads the database layer.
      const operator = await (known === undefined
        ? find(hash)
        : withTimeout(find(hash), identityMs));
      if (operator === null) found.delete(hash);
      else found.set(hash, operator);
      return operator;
    } catch (error) {
      if (known === undefined) throw error;
      return { ...known, role: "viewer" };
    }
  };
}
