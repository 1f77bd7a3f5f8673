import {
  problemOfKey,
  readKeyText,
  type KeyCheck,
  type ApiKeyCache,
} from "../../platform/security/api-keys.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { RequestInfo } from "../pipeline/route.ts";

/** KEY-01: a key in the query or as a bearer token is ignored. */
export const keyHeader = "x-api-key";

/** Validates the API key of a request. */
export class PresentedKeys {
  readonly #cache: ApiKeyCache;
  readonly #clock: Clock;

  constructor(cache: ApiKeyCache, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
  }

  /** Null without a key. Rejects while Postgres is down. */
  async check({ headers }: RequestInfo): Promise<KeyCheck | null> {
    const plaintext = headers[keyHeader];
    if (plaintext === undefined) return null;
    const presented = readKeyText(plaintext);
    const known = presented === null ? null : await this.#cache.find(presented);
    if (known === null) return { key: null, problem: "key:invalid" };
    const problem = problemOfKey(known, headers["origin"], this.#clock.now());
    if (problem !== null) return { key: null, problem };
    this.#cache.recordUse(known);
    return { key: known, problem: null };
  }
}
