import type { Logger } from "./log/logger.ts";
import { withTimeout } from "./time/deadline.ts";

/** What every batch of a process says about itself. */
export interface BatchHead {
  /** Id of the start of the process. */
  instance: string;
  /** Number of the batch in its process; a batch that is written again is counted once. */
  seq: number;
  /** Items dropped since the batch before. */
  numDropped: number;
}

export interface BatchWriterOptions<T, Body> {
  /** Of the items, in log lines and their events. */
  name: "fault" | "request" | "job_time";
  instance: string;
  log: Logger;
  /** Called once per batch; a batch that is written again has the same body. */
  bodyOf: (items: T[]) => Body;
  write: (batch: BatchHead & Body) => Promise<void>;
  /** Items that wait in the process at most; default: `maxWaiting`. */
  most?: number;
  /** Milliseconds between two batches; for tests. */
  everyMs?: number | undefined;
}

/** Items that usually wait in a process at most; beyond it new ones are dropped and counted. */
export const maxWaiting = 1_000;
const usualEveryMs = 1_000;
/** Longest wait of a process that stops. */
const lastWriteMs = 2_000;

/**
 * Writes what a process collects in batches, one a second while there is anything. A batch that cannot be written is
 * kept, within the bound of the buffer, and written when the store is back. No caller waits.
 */
export class BatchWriter<T, Body extends object> {
  readonly #options: BatchWriterOptions<T, Body>;
  #waiting: T[] = [];
  /** Written, or to be written again, before anything else. */
  #unsent: { batch: BatchHead & Body; size: number } | null = null;
  #numDropped = 0;
  #seq = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: BatchWriterOptions<T, Body>) {
    this.#options = options;
  }

  /** False: too many wait, and the item is dropped. */
  add(item: T): boolean {
    if (this.#numWaiting >= (this.#options.most ?? maxWaiting)) {
      this.#numDropped++;
      return false;
    }
    this.#waiting.push(item);
    this.#schedule();
    return true;
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
    const { log, name } = this.#options;
    const numLost = this.#numWaiting;
    if (numLost > 0)
      log.warn(
        { event: `${name}s_lost`, num_lost: numLost },
        `${wordsOf(name)} not recorded before the stop`,
      );
  }

  get #numWaiting(): number {
    return this.#waiting.length + (this.#unsent?.size ?? 0);
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
    const { log, name } = this.#options;
    try {
      await this.#send();
      if (this.#waiting.length > 0) {
        this.#unsent = this.#nextBatch();
        await this.#send();
      }
    } catch (error) {
      const event = `${name}_batch_failed`;
      log.warn({ event, err: error }, `${wordsOf(name)} not recorded, retrying`);
    }
    // What came meanwhile is the next batch, so that a busy process does not write all the time.
    if (this.#numWaiting > 0) this.#schedule();
  }

  async #send(): Promise<void> {
    if (this.#unsent === null) return;
    await this.#options.write(this.#unsent.batch);
    this.#unsent = null;
  }

  #nextBatch(): { batch: BatchHead & Body; size: number } {
    const { instance, bodyOf } = this.#options;
    const taken = this.#waiting;
    const numDropped = this.#numDropped;
    this.#waiting = [];
    this.#numDropped = 0;
    this.#seq++;
    const head: BatchHead = { instance, seq: this.#seq, numDropped };
    return { batch: { ...head, ...bodyOf(taken) }, size: taken.length };
  }
}

const wordsOf = (name: string) => `${name.replaceAll("_", " ")}s`;
