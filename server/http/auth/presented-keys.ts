import {
  prefixOfKey,
  problemOfKey,
  type KeyCheck,
  type ApiKeyCache,
  type CachedApiKey,
} from "../../platform/security/api-keys.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { RequestInfo } from "../pipeline/route.ts";

/** KEY-01: a key in the query or as a bearer token is ignored. */
export const keyHeader = "x-api-key";

/** Validates the API key of a request. */
export class PresentedKeys {
  private readonly cache: ApiKeyCache;
  private readonly clock: Clock;

  constructor(cache: ApiKeyCache, clock: Clock) {
    this.cache = cache;
    this.clock = clock;
  }

  /** Null without a key. Rejects while Postgres is down. */
  async check({ headers }: RequestInfo): Promise<KeyCheck | null> {
    const plaintext = headers[keyHeader];
    if (plaintext === undefined) return null;
    const origin = headers["origin"];
    const prefix = prefixOfKey(plaintext);
    const known = prefix === null ? null : await this.cache.find(prefix);
    return this.validate(known, plaintext, origin);
  }

  private validate(
    known: CachedApiKey | null,
    plaintext: string,
    origin: string | undefined,
  ): KeyCheck {
    const problem = problemOfKey(known, plaintext, origin, this.clock.now());
    if (problem !== null || known === null) return { key: null, problem: problem ?? "key:invalid" };
    this.cache.recordUse(known);
    return { key: known, problem: null };
  }
}
