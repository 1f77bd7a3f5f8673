import type { EventStream } from "./stream.ts";

const numSlots = 32;

/** What is done with a stream whose time has come; answers when it is to be looked at next, by `performance.now()`. */
type Look = (stream: EventStream) => number;

/**
 * All streams of a process, by the time at which they are to be looked at (a hashed timing wheel): most have
 * nothing due for seconds, and to look at ten thousand of them for nothing costs as much as to write to hundreds.
 * A stream whose time is further off than the wheel reaches is looked at once on the way.
 */
export class Wheel {
  private readonly slots = Array.from({ length: numSlots }, () => new Set<EventStream>());
  private readonly tickMs: number;
  private readonly perTurn: number;
  private readonly look: Look;
  private timer: NodeJS.Timeout | null = null;
  private more: NodeJS.Immediate | null = null;
  /** The tick whose slot is next. */
  private next: number;

  /** A turn of the event loop looks at `perTurn` streams at most. */
  constructor(tickMs: number, perTurn: number, look: Look) {
    this.tickMs = tickMs;
    this.perTurn = perTurn;
    this.look = look;
    this.next = this.tickOf(performance.now());
    this.wait();
  }

  add(stream: EventStream, at: number): void {
    // Never the slot that is being gone through.
    const tick = Math.min(Math.max(this.tickOf(at), this.next + 1), this.next + numSlots - 1);
    stream.slot = tick % numSlots;
    this.slots[stream.slot]?.add(stream);
  }

  move(stream: EventStream, at: number): void {
    if (this.delete(stream)) this.add(stream, at);
  }

  /** False when it was not there. */
  delete(stream: EventStream): boolean {
    return this.slots[stream.slot]?.delete(stream) ?? false;
  }

  all(): EventStream[] {
    return this.slots.flatMap((streams) => [...streams]);
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    if (this.more) clearImmediate(this.more);
  }

  /** The first tick that is not before that time. */
  private tickOf(at: number): number {
    return Math.ceil(at / this.tickMs);
  }

  private wait(): void {
    const waitMs = this.next * this.tickMs - performance.now();
    this.timer = setTimeout(() => this.advance(), waitMs);
    this.timer.unref();
  }

  private advance(): void {
    const now = performance.now();
    let left = this.perTurn;
    for (; this.next * this.tickMs <= now; this.next += 1) {
      for (const stream of this.slots[this.next % numSlots] ?? []) {
        if (left === 0) {
          this.more = setImmediate(() => this.advance());
          return;
        }
        left -= 1;
        this.move(stream, this.look(stream));
      }
    }
    this.wait();
  }
}
