import { BatchWriter, type BatchHead } from "../batch-writer.ts";
import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Clock } from "../time/clock.ts";
import { addTo, bucketOf, countsOf, type Histogram } from "./histogram.ts";

/** One attempt of a job that has ended. */
export interface JobAttempt {
  queue: string;
  id: string;
  outcome: "completed" | "failed" | "retried";
  startedMs: number;
  runMs: number;
  /** From its due time to its start; null for a later attempt, whose due time the store may have. */
  waitMs: number | null;
  /** When the next attempt is due; null without one. */
  nextDueMs: number | null;
}

export interface JobTimesRecorder {
  /** Neither throws nor waits. */
  record(attempt: JobAttempt): void;
}

/** For programs without a store of times. */
export const noJobTimes: JobTimesRecorder = { record: () => undefined };

/** Minute, jobs completed, failed, retried, waits and runs as `countsOf` has them. */
export type Cell = [number, number, number, number, number[], number[]];

/** Due time of the next attempt of a job; or the start of a later attempt and the minute in which it ended. */
export type Retry = [id: string, dueMs: number] | [id: string, startedMs: number, minute: number];

export interface JobTimesBatch extends BatchHead {
  queues: { name: string; cells: Cell[]; retries: Retry[] }[];
}

export interface JobTimesBatchStore {
  /** The waits of retries, which only the store knows. */
  write(batch: JobTimesBatch): Promise<{ queue: string; waitMs: number }[]>;
}

export interface JobTimesRecorderOptions {
  store: JobTimesBatchStore;
  instance: Instance;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, "jobWaitSeconds" | "jobSeconds">;
  /** Milliseconds between two batches; for tests. */
  everyMs?: number;
}

export const minuteMs = 60_000;
/**
 * Attempts that wait in a process at most, more than one ends in a second; further ones are in its metrics only. While
 * Redis is away no attempt starts.
 */
export const maxAttempts = 5_000;

interface Minute {
  completed: number;
  failed: number;
  retried: number;
  waits: Histogram;
  runs: Histogram;
}

interface CountedAttempt extends JobAttempt {
  minute: number;
}

/** Counts the attempts of a process by minute and writes them in batches (OPS-40). */
export class BatchingJobTimes implements JobTimesRecorder {
  readonly #options: JobTimesRecorderOptions;
  readonly #writer: BatchWriter<CountedAttempt, Pick<JobTimesBatch, "queues">>;

  constructor(options: JobTimesRecorderOptions) {
    const { store, instance, log, metrics, everyMs } = options;
    this.#options = options;
    this.#writer = new BatchWriter({
      ...{ name: "job_time", instance: instance.id, log, everyMs, most: maxAttempts },
      bodyOf: (attempts) => ({ queues: countAttempts(attempts) }),
      write: async (batch) => {
        for (const { queue, waitMs } of await store.write(batch))
          metrics.jobWaitSeconds.observe({ queue }, waitMs / 1_000);
      },
    });
  }

  record(attempt: JobAttempt): void {
    const { metrics, clock } = this.#options;
    const { queue, runMs, waitMs } = attempt;
    metrics.jobSeconds.observe({ queue }, runMs / 1_000);
    if (waitMs !== null) metrics.jobWaitSeconds.observe({ queue }, waitMs / 1_000);
    this.#writer.add({ ...attempt, minute: Math.floor(clock.now() / minuteMs) });
  }

  /** Writes what waits. Never rejects: what cannot be written stays. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Writes what waits and ends; what Redis does not take in time is lost. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }
}

interface CountedQueue {
  minutes: Map<number, Minute>;
  retries: Retry[];
}

function countAttempts(attempts: readonly CountedAttempt[]): JobTimesBatch["queues"] {
  const queues = new Map<string, CountedQueue>();
  for (const attempt of attempts) {
    const counted = queues.get(attempt.queue) ?? { minutes: new Map(), retries: [] };
    queues.set(attempt.queue, counted);
    countAttempt(counted, attempt);
  }
  return [...queues].map(([name, { minutes, retries }]) => ({
    name,
    cells: [...minutes].map(cellOf),
    retries,
  }));
}

function countAttempt({ minutes, retries }: CountedQueue, attempt: CountedAttempt): void {
  const { id, outcome, startedMs, runMs, waitMs, nextDueMs, minute } = attempt;
  const counts = minutes.get(minute) ?? noAttempts();
  minutes.set(minute, counts);
  counts[outcome]++;
  addTo(counts.runs, bucketOf(runMs));
  if (waitMs === null) retries.push([id, startedMs, minute]);
  else addTo(counts.waits, bucketOf(waitMs));
  if (nextDueMs !== null) retries.push([id, nextDueMs]);
}

const noAttempts = (): Minute => ({
  ...{ completed: 0, failed: 0, retried: 0 },
  ...{ waits: new Map(), runs: new Map() },
});

const cellOf = ([minute, { completed, failed, retried, waits, runs }]: [number, Minute]): Cell => [
  minute,
  completed,
  failed,
  retried,
  countsOf(waits),
  countsOf(runs),
];
