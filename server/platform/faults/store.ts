import { createHash } from "node:crypto";
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

/** Their share of Redis is in OPS-92. */
export const usualBounds: StoreBounds = {
  maxGroups: 500,
  maxJobs: 100_000,
  // A failed job is kept for half of it.
  keptMs: 28 * 86_400_000,
};

/** About 50 jobs share a hash at the bound, which is small enough to be packed. */
const numOwners = 2_048;

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
const readGroups = scriptOf("server/platform/faults/read-groups.lua");
/** Groups read by one script, so that none keeps Redis from others for long. */
const groupsPerRead = 25;

export interface StoreOptions {
  redis: Redis;
  clock: Clock;
  /** Prefix of all keys, in the slot of the queues. */
  prefix: string;
  /** Prefix of the keys of the queues. */
  queuePrefix: string;
  bounds?: StoreBounds;
}

/** Groups of faults in Redis; the script describes the keys. */
export class FaultStore implements FaultBatchStore {
  readonly #options: StoreOptions;
  readonly #bounds: StoreBounds;
  /** The last list, whose groups mostly stay as they are: an open overview asks every ten seconds (OPS-71). */
  #known: ReadonlyMap<string, KnownGroup> = nothingKnown;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
  }

  async write(batch: FaultBatch): Promise<void> {
    const { redis, clock, prefix } = this.#options;
    const { maxGroups, maxJobs, keptMs } = this.#bounds;
    const text = JSON.stringify({ ...batch, nowMs: clock.now() });
    await record(redis, [prefix], text, maxGroups, maxJobs, keptMs, numPeriods, numOwners);
  }

  /** All groups, the one with the latest occurrence first. */
  async list(): Promise<StoredGroups> {
    const { redis, prefix } = this.#options;
    const [ids, meta] = await Promise.all([
      redis.zrevrange(`${prefix}:groups`, 0, -1),
      redis.hgetall(`${prefix}:meta`),
    ]);
    const found = (await this.#read(ids, this.#known)).filter((one) => one !== null);
    this.#known = new Map(found.map((one) => [one.group.id, one]));
    return {
      groups: found.map(({ group }) => group),
      groupsFromMs: numberOrNull(meta["groups_from"]),
      jobsFromMs: numberOrNull(meta["jobs_from"]),
      numDropped: Number(meta["dropped"] ?? 0),
    };
  }

  /** Null for an unknown or evicted group. */
  async find(id: string): Promise<StoredGroup | null> {
    const [found] = await this.#read([id]);
    return found?.group ?? null;
  }

  /**
   * Whether jobs that failed again belong to the group they failed in before. Null while their new failures are not
   * recorded. The jobs and when they failed again.
   */
  async failAlike(
    id: string,
    queue: string,
    jobs: readonly { id: string; failedAtMs: number }[],
  ): Promise<boolean | null> {
    const ids = jobs.map((job) => job.id);
    const [owners, times] = await Promise.all([
      Promise.all(ids.map((job) => this.groupOfJob(queue, job))),
      this.#options.redis.zmscore(this.jobsKeyOf(id), ...ids),
    ]);
    // The group of a job changes when its next failure is recorded.
    if (owners.some((owner) => owner !== null && owner !== id)) return false;
    const isRecorded = jobs.every(({ failedAtMs }, at) => Number(times[at] ?? 0) >= failedAtMs);
    return isRecorded ? true : null;
  }

  /** What the caller knows and did not change is not read again. */
  async #read(
    ids: readonly string[],
    known: ReadonlyMap<string, KnownGroup> = nothingKnown,
  ): Promise<(KnownGroup | null)[]> {
    const now = this.#options.clock.now();
    const parts: Promise<(KnownGroup | null)[]>[] = [];
    for (let from = 0; from < ids.length; from += groupsPerRead)
      parts.push(this.#readSome(ids.slice(from, from + groupsPerRead), known, now));
    return (await Promise.all(parts)).flat();
  }

  async #readSome(
    ids: readonly string[],
    known: ReadonlyMap<string, KnownGroup>,
    now: number,
  ): Promise<(KnownGroup | null)[]> {
    const { redis, prefix, queuePrefix } = this.#options;
    const asked = ids.flatMap((id) => [id, known.get(id)?.version ?? ""]);
    const period = Math.floor(now / periodMs);
    const rows = (await readGroups(redis, [prefix], queuePrefix, period, ...asked)) as GroupRow[];
    return Promise.all(
      ids.map(async (id, at) => {
        const [version, ...fields] = rows[at] ?? [];
        if (version === undefined) return null;
        if (fields.length === 0) return known.get(id) ?? null;
        // A script cannot hand over the bytes of the ring. The commands of one turn leave together.
        const ring = await redis.getBuffer(`${prefix}:periods:${id}`);
        return { version: String(version), group: groupOf(id, fields, ring, now) };
      }),
    );
  }

  /** Groups of the last failures of these jobs, each once; nothing for jobs that did not fail for good. */
  async groupsOfJobs(jobs: readonly { queue: string; id: string }[]): Promise<string[]> {
    // The commands of one turn leave together.
    const owners = await Promise.all(jobs.map(({ queue, id }) => this.groupOfJob(queue, id)));
    return [...new Set(owners.filter((id) => id !== null))];
  }

  /** The group of the latest failure of a job; null if there is none, or none any more. */
  groupOfJob(queue: string, id: string): Promise<string | null> {
    const digest = createHash("sha1").update(`${queue}/${id}`).digest("hex");
    const number = Number.parseInt(digest.slice(0, 4), 16) % numOwners;
    return this.#options.redis.hget(
      `${this.#options.prefix}:owners:${number}`,
      digest.slice(4, 20),
    );
  }

  /** Key of the jobs of a group by the time of their failure. */
  jobsKeyOf(id: string): string {
    return `${this.#options.prefix}:jobs:${id}`;
  }
}

/** A group as of a version, which is that of a period too. */
interface KnownGroup {
  version: string;
  group: StoredGroup;
}

const nothingKnown: ReadonlyMap<string, KnownGroup> = new Map();

/** Version, six fields as texts, number of players and of jobs; only the version if it is known; empty without a group. */
type GroupRow = readonly (string | number)[];

function groupOf(id: string, row: GroupRow, ring: Buffer | null, nowMs: number): StoredGroup {
  const [key, first, last, total, jobsFrom, example, numPlayers, numJobs] = row;
  return {
    id,
    key: JSON.parse(String(key)) as GroupKey,
    firstMs: Number(first),
    lastMs: Number(last),
    total: Number(total),
    periods: readPeriods(ring, nowMs),
    periodsFromMs: (Math.floor(nowMs / periodMs) - numPeriods + 1) * periodMs,
    numPlayers: Number(numPlayers),
    numJobs: Number(numJobs),
    jobsFromMs: jobsFrom === "" ? null : Number(jobsFrom),
    example: example === "" ? null : (JSON.parse(String(example)) as FaultExample),
  };
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
