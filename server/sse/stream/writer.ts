import type { HubLimits } from "../delivery/limits.ts";
import type { EventStream } from "./stream.ts";

/** A topic with unsent messages. */
export interface Flushable {
  /** Adds every stream with unsent messages. */
  collect(add: (stream: EventStream) => void): void;
}

export interface WriterHooks {
  /** A stream could not be written. */
  onError(error: unknown): void;
  /** All writes of an event loop turn are done. */
  onTurn(): void;
}

/**
 * Write batching: writes to streams in the next turn of the event loop. uWebSockets has one cork buffer, owned by the
 * running handler's response: a write from there would cost four system calls per message and stream.
 * A turn writes to a bounded number of streams, so that a broadcast does not delay requests.
 */
export class Writer {
  readonly #limits: HubLimits;
  readonly #hooks: WriterHooks;
  #flushable = new Set<Flushable>();
  readonly #waiting = new Set<EventStream>();
  #turn: NodeJS.Immediate | null = null;

  constructor(limits: HubLimits, hooks: WriterHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  /** Schedules a flush: messages that arrive before the next turn are written together. */
  markFlushable(topic: Flushable): void {
    this.#flushable.add(topic);
    this.#schedule();
  }

  add(stream: EventStream): void {
    if (stream.isClosed) return;
    this.#waiting.add(stream);
    this.#schedule();
  }

  stop(): void {
    if (this.#turn) clearImmediate(this.#turn);
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => this.#run());
  }

  /** Flushes one batch; a stream with more to send queues again behind the others. */
  #run(): void {
    this.#turn = null;
    const topics = this.#flushable;
    this.#flushable = new Set();
    for (const topic of topics) topic.collect((stream) => this.#waiting.add(stream));
    let left = this.#limits.writesPerTurn;
    for (const stream of this.#waiting) {
      if (left === 0) break;
      left -= 1;
      this.#waiting.delete(stream);
      if (this.#flush(stream)) this.#waiting.add(stream);
    }
    if (this.#waiting.size > 0) this.#schedule();
    this.#hooks.onTurn();
  }

  #flush(stream: EventStream): boolean {
    try {
      return stream.flush();
    } catch (error) {
      this.#hooks.onError(error);
      return false;
    }
  }
}
