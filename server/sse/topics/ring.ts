import type { Frame } from "../stream/frames.ts";

/** Bytes kept by all rings of a process. */
export interface RingBudget {
  used: number;
  readonly limit: number;
}

/** The last messages of a topic, numbered without holes; bounded by count, bytes and the shared budget. */
export class Ring {
  private frames: Frame[] = [];
  private bytes = 0;
  private readonly maxFrames: number;
  private readonly maxBytes: number;
  private readonly budget: RingBudget;
  /** The newest message, also when it is not among those kept for replay; null before the first. */
  newest: Frame | null;

  constructor(newest: Frame | null, maxFrames: number, maxBytes: number, budget: RingBudget) {
    this.newest = newest;
    this.maxFrames = maxFrames;
    this.maxBytes = maxBytes;
    this.budget = budget;
  }

  /** Number of the newest message. */
  get last(): number {
    return this.newest?.seq ?? 0;
  }

  /** True when everything after `seq` is kept, or `seq` is not reached yet. */
  covers(seq: number): boolean {
    return seq >= this.last - this.frames.length;
  }

  /** The frame must be number `last + 1`. */
  push(frame: Frame): void {
    this.frames.push(frame);
    this.newest = frame;
    this.count(frame.bytes.length);
    while (this.frames.length > 1 && this.isOver()) this.dropOldest();
  }

  /** The kept frames and the index in them of the first one after `seq`. */
  after(seq: number): { frames: readonly Frame[]; start: number } {
    return { frames: this.frames, start: seq - (this.last - this.frames.length) };
  }

  /** Stops adding up once more than `limit` is certain. */
  bytesAfter(seq: number, limit: number): number {
    let sum = 0;
    for (let i = this.after(seq).start; i < this.frames.length && sum <= limit; i++)
      sum += this.frames[i]?.bytes.length ?? 0;
    return sum;
  }

  /** Forgets everything; numbering goes on after `newest`. */
  reset(newest: Frame | null): void {
    this.count(-this.bytes);
    this.frames = [];
    this.newest = newest;
  }

  private isOver(): boolean {
    if (this.frames.length > this.maxFrames || this.bytes > this.maxBytes) return true;
    return this.budget.used > this.budget.limit;
  }

  private dropOldest(): void {
    const oldest = this.frames.shift();
    if (oldest) this.count(-oldest.bytes.length);
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.budget.used += bytes;
  }
}
