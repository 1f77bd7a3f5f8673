import type { Redis } from "ioredis";
import { randomId } from "../../platform/ids.ts";

/** Retention of the response of an idempotency key (HTTP-15), and of its input. */
export const keptMs = 24 * 3600 * 1000;

/**
 * Memoizes random input of a handler, such as an id, under the request's Idempotency-Key: every attempt gets the
 * same value. Call it at most once in a request; the value is stored as JSON.
 */
export type MemoizeForKey = <T>(draw: () => Promise<T>) => Promise<T>;

/** For a request without a key, which has no retries: draws the value without storing it. */
export const withoutMemo: MemoizeForKey = (draw) => draw();

/**
 * Operation id for the effect of the request, stored with the effect: an attempt that finds it there was already
 * executed. Null without a key.
 */
export const nameOf = async (memoizeForKey: MemoizeForKey): Promise<string | null> =>
  memoizeForKey === withoutMemo ? null : memoizeForKey(async () => randomId());

/** Redis key of the input of one key and body: during a rolling restart the previous version reads it, too. */
export const inputOf = (name: string, body: string) => `draft:${name}:${body}`;

/** The same for Redis Cluster, in the slot of the mark. */
export const clusterInputOf = (mark: string, body: string) => `draft:{${mark}}:${body}`;

/**
 * Persisted idempotent input of one key, caller and body. It is stored before the handler acts and survives an
 * attempt with an unknown outcome: the next attempt repeats the same command, in any process.
 */
export class IdempotentInput {
  /** Redis key of the input. */
  readonly name: string;
  readonly #redis: Redis;
  /** JSON of the input that was stored with the claim or by an earlier attempt; null while nothing is drawn. */
  readonly #stored: string | null;

  constructor(redis: Redis, name: string, stored: string | null) {
    this.#redis = redis;
    this.name = name;
    this.#stored = stored;
  }

  readonly memoizeForKey: MemoizeForKey = async <T>(draw: () => Promise<T>) => {
    if (this.#stored !== null) return JSON.parse(this.#stored) as T;
    const drawn = await draw();
    const json = JSON.stringify(drawn);
    const present = await this.#redis.set(this.name, json, "PX", keptMs, "NX", "GET");
    return present === null ? drawn : (JSON.parse(present) as T);
  };
}
