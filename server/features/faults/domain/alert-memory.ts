import type { Redis } from "ioredis";
import { queuePrefixOf } from "../../../../workers/queues.ts";

/** Announcements sent in a minute, over all processes; the rest waits for the next. */
export const maxPerMinute = 20;

/** Field of the time of the first look; no id of a group has this form. */
const beganField = "began";
const minuteMs = 60_000;

/** What was announced, in Redis beside the groups: losing it would lose them as well. */
export class AlertMemory {
  readonly #redis: Redis;
  readonly #key: string;

  constructor(redis: Redis) {
    this.#redis = redis;
    this.#key = `${queuePrefixOf(redis)}:faults:announced`;
  }

  /** The last episode of each group; `isFirst` until `begin` was called. */
  async read(): Promise<{ announced: Map<string, string>; isFirst: boolean }> {
    const { [beganField]: began, ...announced } = await this.#redis.hgetall(this.#key);
    return { announced: new Map(Object.entries(announced)), isFirst: began === undefined };
  }

  /** The first look is over. */
  async begin(nowMs: number): Promise<void> {
    await this.#redis.hset(this.#key, beganField, nowMs);
  }

  async add(groupId: string, episode: string): Promise<void> {
    await this.#redis.hset(this.#key, groupId, episode);
  }

  /** Groups that were evicted are new when they come back. */
  async forget(groupIds: readonly string[]): Promise<void> {
    if (groupIds.length > 0) await this.#redis.hdel(this.#key, ...groupIds);
  }

  /** True if one more may be sent in this minute. */
  async take(nowMs: number): Promise<boolean> {
    const key = `${this.#key}:${Math.floor(nowMs / minuteMs)}`;
    const count = await this.#redis.incr(key);
    await this.#redis.pexpire(key, 2 * minuteMs);
    return count <= maxPerMinute;
  }
}
