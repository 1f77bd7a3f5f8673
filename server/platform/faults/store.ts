import type { Redis } from "ioredis";
import { scriptOf } from "../redis/script.ts";
import type { Clock } from "../time/clock.ts";
import { periodMs, type FaultExample } from "./batch.ts";
import type { GroupKey } from "./grouping.ts";
import type { FaultBatch, FaultBatchStore } from "./recorder.ts";

export interface StoreBounds {
  maxGroups: number;
  /** Over all groups. */
  maxJobs: number;
  /** After its last occurrence. */
  keptMs: number;
}

/** Together at most 40 MiB of Redis (test/server/platform/faults/store-size.test.ts). */
export const usualBounds: StoreBounds = {
  maxGroups: 500,
  maxJobs: 100_000,
  // A failed job is kept for half of it.
  keptMs: 28 * 86_400_000,
};

/** Periods counted: 24 hours. */
export const numPeriods = 86_400_000 / periodMs;
const bytesPerPeriod = 8;

/** A group as it is stored. */
export interface StoredGroup {
  id: string;
  key: GroupKey;
  firstMs: number;
  lastMs: number;
  /** Since `firstMs`. */
  total: number;
  /** Number of occurrences per period, the last 24 hours, oldest first; the last period contains now. */
  periods: number[];
  /** Start of the first period. */
  periodsFromMs: number;
  /** About. */
  numPlayers: number;
  /** Jobs of this group that are listed as failed now. */
  numJobs: number;
  /** Jobs that failed before are no longer counted; null if all are. */
  jobsFromMs: number | null;
  example: FaultExample | null;
}

export interface StoredGroups {
  groups: StoredGroup[];
  /** Groups without an occurrence since then were evicted; null if there was no eviction. */
  groupsFromMs: number | null;
  /** Jobs that failed before are no longer counted. */
  jobsFromMs: number | null;
  /** Occurrences that processes dropped, because too many waited. */
  numDropped: number;
}

const record = scriptOf("server/platform/faults/record.lua");
const fields = ["key", "first", "last", "total", "jobs_from", "example"] as const;

export interface StoreOptions {
  redis: Redis;
  clock: Clock;
  /** Prefix of all keys, in the slot of the queues. */
  prefix: string;
  /** Key of the failed jobs of a queue. */
  failedJobsOf: (queue: string) => string;
  bounds?: StoreBounds;
}

/** Groups of faults in Redis; the script describes the keys. */
export class FaultStore implements FaultBatchStore {
  readonly #options: StoreOptions;
  readonly #bounds: StoreBounds;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
  }

  async write(batch: FaultBatch): Promise<void> {
    const { redis, clock, prefix } = this.#options;
    const { maxGroups, maxJobs, keptMs } = this.#bounds;
    const text = JSON.stringify({ ...batch, nowMs: clock.now() });
    await record(redis, [prefix], text, maxGroups, maxJobs, keptMs, numPeriods);
  }

  /** All groups, the one with the latest occurrence first. */
  async list(): Promise<StoredGroups> {
    const { redis, prefix } = this.#options;
    const [ids, meta] = await Promise.all([
      redis.zrevrange(`${prefix}:groups`, 0, -1),
      redis.hgetall(`${prefix}:meta`),
    ]);
    const groups = await Promise.all(ids.map((id) => this.find(id)));
    return {
      groups: groups.filter((group) => group !== null),
      groupsFromMs: numberOrNull(meta["groups_from"]),
      jobsFromMs: numberOrNull(meta["jobs_from"]),
      numDropped: Number(meta["dropped"] ?? 0),
    };
  }

  /** Null for an unknown or evicted group. */
  async find(id: string): Promise<StoredGroup | null> {
    const { redis, prefix, failedJobsOf, clock } = this.#options;
    // The commands of one turn leave together.
    const [facts, periods, numPlayers] = await Promise.all([
      redis.hmget(`${prefix}:group:${id}`, ...fields),
      redis.getBuffer(`${prefix}:periods:${id}`),
      redis.pfcount(`${prefix}:players:${id}`),
    ]);
    const [keyText, first, last, total, jobsFrom, example] = facts;
    if (keyText == null) return null;
    const key = JSON.parse(keyText) as GroupKey;
    const numJobs =
      key.kind === "job"
        ? await redis.zintercard(2, this.jobsKeyOf(id), failedJobsOf(key.place))
        : 0;
    return {
      id,
      key,
      firstMs: Number(first),
      lastMs: Number(last),
      total: Number(total),
      periods: readPeriods(periods, clock.now()),
      periodsFromMs: (Math.floor(clock.now() / periodMs) - numPeriods + 1) * periodMs,
      numPlayers,
      numJobs,
      jobsFromMs: numberOrNull(jobsFrom),
      example: example ? (JSON.parse(example) as FaultExample) : null,
    };
  }

  /** The group of the latest failure of a job; null if there is none, or none any more. */
  groupOfJob(queue: string, id: string): Promise<string | null> {
    return this.#options.redis.hget(`${this.#options.prefix}:owners`, `${queue}/${id}`);
  }

  /** Key of the jobs of a group by the time of their failure. */
  jobsKeyOf(id: string): string {
    return `${this.#options.prefix}:jobs:${id}`;
  }
}

const numberOrNull = (text: string | null | undefined) => (text == null ? null : Number(text));

/** Counts of the last 24 hours out of the ring. */
function readPeriods(ring: Buffer | null, nowMs: number): number[] {
  const current = Math.floor(nowMs / periodMs);
  return Array.from({ length: numPeriods }, (_, at) => {
    const period = current - numPeriods + 1 + at;
    const offset = (period % numPeriods) * bytesPerPeriod;
    if (ring === null || offset + bytesPerPeriod > ring.length) return 0;
    return ring.readUInt32BE(offset) === period ? ring.readUInt32BE(offset + 4) : 0;
  });
}
