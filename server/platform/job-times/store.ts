import type { Redis } from "ioredis";
import { scriptOf } from "../redis/script.ts";
import type { Clock } from "../time/clock.ts";
import {
  addCounts,
  growth,
  numBuckets,
  percentilesOf,
  type Histogram,
  type Percentiles,
} from "./histogram.ts";
import { minuteMs, type Cell, type JobTimesBatch, type JobTimesBatchStore } from "./recorder.ts";

/** The periods that are kept: minutes of 24 hours, hours of 30 days. */
export const keptPeriods = { minutes: 1_440, hours: 720 } as const;
export type PeriodUnit = keyof typeof keptPeriods;
const unitMs = { minutes: minuteMs, hours: 60 * minuteMs } as const;

/** Retries whose due time is kept, over all queues; the one due first is dropped. */
export const maxDues = 5_000;

/** What the jobs of a queue did in a period. */
export interface JobPeriod {
  startMs: number;
  numCompleted: number;
  numFailed: number;
  /** Failed attempts that another one follows. */
  numRetried: number;
  /** From the due time to the start; null without an attempt whose due time is known. */
  wait: Percentiles | null;
  run: Percentiles | null;
}

export interface JobSeries {
  /** Null: all queues together. */
  queue: string | null;
  stepMs: number;
  /** Oldest first; the last one contains now. A period without jobs has zeros. */
  periods: JobPeriod[];
  /** Of all periods together. */
  total: JobPeriod;
}

export interface JobTimesOptions {
  redis: Redis;
  clock: Clock;
  /** Prefix of all keys, in the slot of the queues. */
  prefix: string;
  queues: readonly string[];
}

const recordScript = scriptOf("server/platform/job-times/record.lua");
const readScript = scriptOf("server/platform/job-times/read.lua");

/** Wait and run times of jobs by queue, in Redis; the script that records them describes the keys. */
export class JobTimes implements JobTimesBatchStore {
  readonly #options: JobTimesOptions;

  constructor(options: JobTimesOptions) {
    this.#options = options;
  }

  async write(batch: JobTimesBatch): Promise<{ queue: string; waitMs: number }[]> {
    const { redis, clock, prefix } = this.#options;
    const { minutes, hours } = keptPeriods;
    const text = JSON.stringify({ ...batch, nowMs: clock.now() });
    const bounds = [minutes, hours, growth, numBuckets, maxDues];
    const found = await recordScript(redis, [prefix], text, ...bounds);
    return (found as [index: number, waitMs: number][]).map(([index, waitMs]) => ({
      queue: batch.queues[index]?.name ?? "",
      waitMs,
    }));
  }

  /** The last hour by minutes, of every queue. */
  lastHour(): Promise<JobSeries[]> {
    return Promise.all(this.#options.queues.map((queue) => this.series(queue, "minutes", 60)));
  }

  /** The last `count` minutes or hours of a queue, or of all together, `merged` of them in each period. */
  async series(
    queue: string | null,
    unit: PeriodUnit,
    count: number,
    merged = 1,
  ): Promise<JobSeries> {
    const { redis, clock, prefix, queues } = this.#options;
    const ring = keptPeriods[unit];
    const current = Math.floor(clock.now() / unitMs[unit]);
    const number = Math.ceil(Math.min(count, ring) / merged);
    const first = Math.floor(current / merged) - number + 1;
    const oldest = Math.max(first * merged, current - ring + 1);
    const keys = (queue === null ? queues : [queue]).map((name) => `${prefix}:${name}:${unit}`);
    const read = async (key: string) =>
      (await readScript(redis, [key], oldest, current, ring)) as Cell[];
    const cells = (await Promise.all(keys.map(read))).flat();
    const sums = Array.from({ length: number }, () => new Sum());
    const total = new Sum();
    for (const cell of cells) {
      sums[Math.floor(cell[0] / merged) - first]?.add(cell);
      total.add(cell);
    }
    const stepMs = merged * unitMs[unit];
    const startOf = (at: number) => (first + at) * stepMs;
    const periods = sums.map((sum, at) => sum.present(startOf(at)));
    return { queue, stepMs, periods, total: total.present(startOf(0)) };
  }

  /** When the next attempt of a job is, or was, due; null if it is unknown. */
  async dueOf(queue: string, id: string): Promise<number | null> {
    const { redis, prefix } = this.#options;
    const due = await redis.zscore(`${prefix}:dues`, `${queue}/${id}`);
    return due === null ? null : Number(due);
  }
}

/** Several stored periods together. */
class Sum {
  #completed = 0;
  #failed = 0;
  #retried = 0;
  readonly #waits: Histogram = new Map();
  readonly #runs: Histogram = new Map();

  add([, completed, failed, retried, waits, runs]: Cell): void {
    this.#completed += completed;
    this.#failed += failed;
    this.#retried += retried;
    addCounts(this.#waits, waits);
    addCounts(this.#runs, runs);
  }

  present(startMs: number): JobPeriod {
    return {
      startMs,
      numCompleted: this.#completed,
      numFailed: this.#failed,
      numRetried: this.#retried,
      wait: percentilesOf(this.#waits),
      run: percentilesOf(this.#runs),
    };
  }
}
