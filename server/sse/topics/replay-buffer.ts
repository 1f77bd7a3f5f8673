import type { Frame } from "../stream/frames.ts";

/** Bytes in all replay buffers of a process. */
export interface ReplayBufferBudget {
  used: number;
  readonly limit: number;
}

/** Replay buffer: the last messages of a topic in sequence; bounded by count, bytes and the shared budget. */
export class ReplayBuffer {
  #frames: Frame[] = [];
  #bytes = 0;
  readonly #maxFrames: number;
  readonly #maxBytes: number;
  readonly #budget: ReplayBufferBudget;
  /** The newest message, even when it is not in the buffer; null before the first. */
  newest: Frame | null;

  constructor(
    newest: Frame | null,
    maxFrames: number,
    maxBytes: number,
    budget: ReplayBufferBudget,
  ) {
    this.newest = newest;
    this.#maxFrames = maxFrames;
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  /** Number of the newest message. */
  get last(): number {
    return this.newest?.seq ?? 0;
  }

  /** True when all messages after `seq` are in the buffer, or `seq` is not reached yet. */
  contains(seq: number): boolean {
    return seq >= this.last - this.#frames.length;
  }

  /** The frame must be number `last + 1`. */
  push(frame: Frame): void {
    this.#frames.push(frame);
    this.newest = frame;
    this.#count(frame.bytes.length);
    while (this.#frames.length > 1 && this.#isOver()) this.#dropOldest();
  }

  /** The buffered frames and the index of the first one after `seq`. */
  after(seq: number): { frames: readonly Frame[]; start: number } {
    return { frames: this.#frames, start: seq - (this.last - this.#frames.length) };
  }

  /** Sum of the bytes after `seq`; stops adding once it exceeds `limit`. */
  bytesAfter(seq: number, limit: number): number {
    let sum = 0;
    for (let i = this.after(seq).start; i < this.#frames.length && sum <= limit; i++)
      sum += this.#frames[i]?.bytes.length ?? 0;
    return sum;
  }

  /** Clears the buffer; numbering continues after `newest`. */
  reset(newest: Frame | null): void {
    this.#count(-this.#bytes);
    this.#frames = [];
    this.newest = newest;
  }

  #isOver(): boolean {
    if (this.#frames.length > this.#maxFrames || this.#bytes > this.#maxBytes) return true;
    return this.#budget.used > this.#budget.limit;
  }

  #dropOldest(): void {
    const oldest = this.#frames.shift();
    if (oldest) this.#count(-oldest.bytes.length);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.used += bytes;
  }
}
