import type { Instance } from "../instance.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Clock } from "../time/clock.ts";
import { withTimeout } from "../time/deadline.ts";
import {
  groupOccurrences,
  type GroupedOccurrences,
  type Occurrence,
  type TimedOccurrence,
} from "./batch.ts";

/** Takes what failed, and what ended well only by a fallback. */
export interface FaultRecorder {
  /** Neither throws nor waits. */
  record(occurrence: Occurrence): void;
}

/** For programs without a store of faults. */
export const noFaults: FaultRecorder = { record: () => undefined };

export interface FaultBatch {
  instance: string;
  /** Number of the batch in its process; a batch that is written again is counted once. */
  seq: number;
  /** Occurrences dropped since the batch before. */
  numDropped: number;
  groups: GroupedOccurrences[];
}

export interface FaultBatchStore {
  write(batch: FaultBatch): Promise<void>;
}

export interface RecorderOptions {
  store: FaultBatchStore;
  instance: Instance;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, "faults" | "faultsDropped">;
  /** Milliseconds between two batches; for tests. */
  everyMs?: number;
}

/** Occurrences that wait in a process; beyond it new ones are dropped and counted. */
export const maxWaiting = 1_000;
const usualEveryMs = 1_000;
/** Longest wait of a process that stops. */
const lastWriteMs = 2_000;

/**
 * Writes the occurrences of a process in batches, one a second while there are any. A batch that cannot be written is
 * kept, within the bound of the buffer, and written when the store is back.
 */
export class BatchingFaultRecorder implements FaultRecorder {
  readonly #options: RecorderOptions;
  #waiting: TimedOccurrence[] = [];
  /** Written, or to be written again, before anything else. */
  #unsent: (FaultBatch & { size: number }) | null = null;
  #numDropped = 0;
  #seq = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  record(occurrence: Occurrence): void {
    const { metrics, clock } = this.#options;
    const { kind } = occurrence;
    if (this.#waiting.length + (this.#unsent?.size ?? 0) >= maxWaiting) {
      this.#numDropped++;
      metrics.faultsDropped.inc();
      return;
    }
    metrics.faults.inc({ kind });
    this.#waiting.push({ ...occurrence, atMs: clock.now() });
    this.#schedule();
  }

  /** Writes what waits. Never rejects: what cannot be written stays. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => (this.#writing = null));
    return this.#writing;
  }

  /** Writes what waits and ends; what the store does not take in time is lost and logged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const finish = async () => {
      await this.#writing;
      await this.flush();
    };
    await withTimeout(finish(), lastWriteMs).catch(() => undefined);
    const numLost = this.#waiting.length + (this.#unsent?.size ?? 0);
    if (numLost > 0)
      this.#options.log.warn(
        { event: "faults_lost", num_lost: numLost },
        "faults not recorded before the stop, they are in the log only",
      );
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
    const { store, log } = this.#options;
    try {
      while (this.#unsent !== null || this.#waiting.length > 0) {
        const batch = (this.#unsent ??= await this.#nextBatch());
        const { size: _, ...sent } = batch;
        await store.write(sent);
        this.#unsent = null;
      }
    } catch (error) {
      log.warn({ event: "fault_batch_failed", err: error }, "faults not recorded, retrying");
      this.#schedule();
    }
  }

  async #nextBatch(): Promise<FaultBatch & { size: number }> {
    const { instance } = this.#options;
    const taken = this.#waiting;
    const numDropped = this.#numDropped;
    this.#waiting = [];
    this.#numDropped = 0;
    this.#seq++;
    const batch = { instance: instance.id, seq: this.#seq, numDropped, size: taken.length };
    return { ...batch, groups: groupOccurrences(taken, instance) };
  }
}
