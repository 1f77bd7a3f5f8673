import type { Redis } from "ioredis";
import { randomId } from "../../platform/ids.ts";

/** Retention of the response of an idempotency key (HTTP-15). */
const keptMs = 24 * 3600 * 1000;

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

/**
 * Persisted idempotent input of one key, caller and body. It is stored before the handler acts and survives an
 * attempt with an unknown outcome: the next attempt repeats the same command, in any process.
 */
export class IdempotentInput {
  private readonly redis: Redis;
  private readonly name: string;
  private isDrawn = false;

  constructor(redis: Redis, name: string) {
    this.redis = redis;
    this.name = name;
  }

  readonly memoizeForKey: MemoizeForKey = async <T>(draw: () => Promise<T>) => {
    this.isDrawn = true;
    const drawn = await draw();
    const present = await this.redis.set(
      this.name,
      JSON.stringify(drawn),
      "PX",
      keptMs,
      "NX",
      "GET",
    );
    return present === null ? drawn : (JSON.parse(present) as T);
  };

  /** Deletes the input after an attempt with a known outcome. */
  async drop(): Promise<void> {
    if (this.isDrawn) await this.redis.del(this.name).catch(() => 0);
  }
}
