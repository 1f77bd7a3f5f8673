import type { HubLimits } from "../delivery/limits.ts";
import type { EventStream } from "./stream.ts";

/** A topic that has something new. */
export interface Dirty {
  /** Hands over every stream that has to be looked at. */
  collect(add: (stream: EventStream) => void): void;
}

export interface WriterHooks {
  /** A stream could not be written. */
  onError(error: unknown): void;
  /** Everything that a turn of the event loop writes is written. */
  onTurn(): void;
}

/**
 * Writes to streams at the next turn of the event loop. uWebSockets has one cork buffer, owned by the running
 * handler's response: written from there, each message would cost four system calls per stream.
 * A turn writes to a bounded number of streams, so that a broadcast does not hold requests up.
 */
export class Writer {
  private readonly limits: HubLimits;
  private readonly hooks: WriterHooks;
  private dirty = new Set<Dirty>();
  private readonly waiting = new Set<EventStream>();
  private turn: NodeJS.Immediate | null = null;

  constructor(limits: HubLimits, hooks: WriterHooks) {
    this.limits = limits;
    this.hooks = hooks;
  }

  /** Messages that come until the next turn are written together. */
  mark(topic: Dirty): void {
    this.dirty.add(topic);
    this.schedule();
  }

  add(stream: EventStream): void {
    if (stream.isClosed) return;
    this.waiting.add(stream);
    this.schedule();
  }

  stop(): void {
    if (this.turn) clearImmediate(this.turn);
  }

  private schedule(): void {
    this.turn ??= setImmediate(() => this.run());
  }

  /** Whoever has more to send waits again, behind the others. */
  private run(): void {
    this.turn = null;
    const topics = this.dirty;
    this.dirty = new Set();
    for (const topic of topics) topic.collect((stream) => this.waiting.add(stream));
    let left = this.limits.writesPerTurn;
    for (const stream of this.waiting) {
      if (left === 0) break;
      left -= 1;
      this.waiting.delete(stream);
      if (this.flush(stream)) this.waiting.add(stream);
    }
    if (this.waiting.size > 0) this.schedule();
    this.hooks.onTurn();
  }

  private flush(stream: EventStream): boolean {
    try {
      return stream.flush();
    } catch (error) {
      this.hooks.onError(error);
      return false;
    }
  }
}
