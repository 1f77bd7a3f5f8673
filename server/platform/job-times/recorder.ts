import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Clock } from "../time/clock.ts";
import { withTimeout } from "../time/deadline.ts";
import { addTo, bucketOf, type Histogram } from "./histogram.ts";

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

/** Minute, jobs completed, failed, retried, waits and runs as pairs of a bucket and a count. */
export type Cell = [number, number, number, number, number[], number[]];

/** Due time of the next attempt of a job; or the start of a later attempt and the minute in which it ended. */
export type Retry = [id: string, dueMs: number] | [id: string, startedMs: number, minute: number];

export interface JobTimesBatch {
  instance: string;
  /** Number of the batch in its process; a batch that is written again is counted once. */
  seq: number;
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
/** Minutes of one queue that wait in a process while Redis is away; the oldest is dropped. */
export const maxMinutes = 60;
/** Retries of one queue that wait in a process; the waits of further ones stay unknown. */
export const maxRetries = 1_000;
const usualEveryMs = 1_000;
/** Longest wait of a process that stops. */
const lastWriteMs = 2_000;

interface Minute {
  completed: number;
  failed: number;
  retried: number;
  waits: Histogram;
  runs: Histogram;
}

interface WaitingQueue {
  minutes: Map<number, Minute>;
  retries: Retry[];
}

/**
 * Counts the attempts of a process by minute and writes them in batches, one a second while jobs run. A batch that
 * cannot be written is kept and written when Redis is back.
 */
export class BatchingJobTimes implements JobTimesRecorder {
  readonly #options: JobTimesRecorderOptions;
  #waiting = new Map<string, WaitingQueue>();
  /** Written, or to be written again, before anything else. */
  #unsent: JobTimesBatch | null = null;
  #seq = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: JobTimesRecorderOptions) {
    this.#options = options;
  }

  record({ queue, id, outcome, startedMs, runMs, waitMs, nextDueMs }: JobAttempt): void {
    const { metrics, clock } = this.#options;
    const minute = Math.floor(clock.now() / minuteMs);
    const waiting = this.#queueOf(queue);
    const counts = minuteOf(waiting, minute);
    counts[outcome]++;
    addTo(counts.runs, bucketOf(runMs));
    metrics.jobSeconds.observe({ queue }, runMs / 1_000);
    if (waitMs === null) addRetry(waiting, [id, startedMs, minute]);
    else {
      addTo(counts.waits, bucketOf(waitMs));
      metrics.jobWaitSeconds.observe({ queue }, waitMs / 1_000);
    }
    if (nextDueMs !== null) addRetry(waiting, [id, nextDueMs]);
    this.#schedule();
  }

  /** Writes what waits. Never rejects: what cannot be written stays. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => (this.#writing = null));
    return this.#writing;
  }

  /** Writes what waits and ends; what Redis does not take in time is lost. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const finish = async () => {
      await this.#writing;
      await this.flush();
    };
    await withTimeout(finish(), lastWriteMs).catch(() => undefined);
  }

  #queueOf(name: string): WaitingQueue {
    const known = this.#waiting.get(name) ?? { minutes: new Map(), retries: [] };
    this.#waiting.set(name, known);
    return known;
  }

  #schedule(): void {
    if (this.#isStopped || this.#timer !== null) return;
    const wake = () => {
      this.#timer = null;
      void this.flush();
    };
    this.#timer = setTimeout(wake, this.#options.everyMs ?? usualEveryMs).unref();
  }

  async #write(): Promise<void> {
    try {
      await this.#send();
      if (this.#waiting.size === 0) return;
      // What comes meanwhile waits for the next second.
      this.#unsent = this.#nextBatch();
      await this.#send();
    } catch (error) {
      const { log } = this.#options;
      log.warn({ event: "job_times_failed", err: error }, "job times not recorded, retrying");
      this.#schedule();
    }
  }

  async #send(): Promise<void> {
    const { store, metrics } = this.#options;
    if (this.#unsent === null) return;
    const waits = await store.write(this.#unsent);
    this.#unsent = null;
    for (const { queue, waitMs } of waits)
      metrics.jobWaitSeconds.observe({ queue }, waitMs / 1_000);
  }

  #nextBatch(): JobTimesBatch {
    const taken = this.#waiting;
    this.#waiting = new Map();
    this.#seq++;
    const queues = [...taken].map(([name, { minutes, retries }]) => ({
      name,
      cells: [...minutes].map(cellOf),
      retries,
    }));
    return { instance: this.#options.instance.id, seq: this.#seq, queues };
  }
}

function minuteOf({ minutes }: WaitingQueue, minute: number): Minute {
  const known = minutes.get(minute);
  if (known) return known;
  const [oldest] = minutes.keys();
  if (minutes.size >= maxMinutes && oldest !== undefined) minutes.delete(oldest);
  const counts = { completed: 0, failed: 0, retried: 0, waits: new Map(), runs: new Map() };
  minutes.set(minute, counts);
  return counts;
}

function addRetry({ retries }: WaitingQueue, retry: Retry): void {
  if (retries.length < maxRetries) retries.push(retry);
}

const cellOf = ([minute, { completed, failed, retried, waits, runs }]: [number, Minute]): Cell => [
  minute,
  completed,
  failed,
  retried,
  [...waits].flat(),
  [...runs].flat(),
];
