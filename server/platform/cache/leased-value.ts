import { CoalescedTask } from "../tasks/coalesced-task.ts";

export interface LeasedRead<T> {
  value: T;
  /** False while a change is about to be committed: the value is for the reads that waited for it, and not kept. */
  isLeased: boolean;
}

export interface LeaseOptions<T> {
  /** How long a process keeps a value, counted from the begin of its read. */
  leaseMs: number;
  /** `held` is the value of the last read, which may still be the right one. */
  read: (held: T | null) => Promise<LeasedRead<T>>;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/**
 * A value from a store that a process keeps for a short time. A writer that keeps new leases from starting, and waits
 * until the last one has ended, commits while no process has an older value.
 */
export class LeasedValue<T> {
  readonly #options: Required<LeaseOptions<T>>;
  readonly #reading: CoalescedTask;
  #held: { value: T; until: number } | null = null;

  constructor(options: LeaseOptions<T>) {
    this.#options = { now: () => performance.now(), ...options };
    this.#reading = new CoalescedTask(() => this.#read());
  }

  /** The kept value; after its lease, that of a read that began after this call. */
  async get(): Promise<T> {
    const held = this.#held;
    return held !== null && this.#options.now() < held.until ? held.value : this.refresh();
  }

  /** The value of a read that began after this call. */
  async refresh(): Promise<T> {
    await this.#reading.run();
    if (this.#held === null) throw new Error("a finished read left no value");
    return this.#held.value;
  }

  async #read(): Promise<void> {
    const { leaseMs, read, now } = this.#options;
    const began = now();
    const { value, isLeased } = await read(this.#held?.value ?? null);
    this.#held = { value, until: isLeased ? began + leaseMs : began };
  }
}
