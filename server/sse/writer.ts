import type { HubLimits } from "./limits.ts";
import type { EventStream } from "./stream.ts";

/** A topic that has something new. */
export interface Dirty {
  /** Lobby messages are; broadcasts to thousands are not. */
  readonly isUrgent: boolean;
  /** Hands over every stream that has to be looked at. */
  collect(add: (stream: EventStream) => void): void;
}

/** Pause after a flush, in multiples of what it cost: writing takes at most a quarter of the time. */
const restFactor = 3;

/**
 * Writes to streams in turns of their own. uWebSockets has one cork buffer, owned by the running
 * handler's response: written from there, each message would cost four system calls per stream.
 * A turn writes to a bounded number of streams, so that a broadcast does not hold requests up;
 * lobby streams go before broadcasts and heartbeats.
 */
export class Writer {
  private readonly limits: HubLimits;
  private readonly onError: (error: unknown) => void;
  private dirty = new Set<Dirty>();
  private readonly urgent: EventStream[] = [];
  private readonly bulk: EventStream[] = [];
  private turn: NodeJS.Immediate | null = null;
  private pause: NodeJS.Timeout | null = null;
  private restUntil = 0;
  private costMs = 0;

  constructor(limits: HubLimits, onError: (error: unknown) => void) {
    this.limits = limits;
    this.onError = onError;
  }

  /** Messages that come until the next flush are written together. */
  mark(topic: Dirty): void {
    this.dirty.add(topic);
    this.schedule();
  }

  add(stream: EventStream, isUrgent: boolean): void {
    if (stream.isQueued || stream.isClosed) return;
    stream.isQueued = true;
    (isUrgent ? this.urgent : this.bulk).push(stream);
    this.schedule();
  }

  stop(): void {
    if (this.turn) clearImmediate(this.turn);
    if (this.pause) clearTimeout(this.pause);
  }

  private schedule(): void {
    if (this.turn) return;
    const restMs = this.restUntil - performance.now();
    if (restMs < 1 || this.urgent.length + this.bulk.length > 0) {
      this.turn = setImmediate(() => this.run());
      return;
    }
    this.pause ??= setTimeout(() => {
      this.pause = null;
      this.turn ??= setImmediate(() => this.run());
    }, restMs);
  }

  private run(): void {
    const startedAt = performance.now();
    this.turn = null;
    if (startedAt >= this.restUntil - 1) this.collect();
    const again: EventStream[] = [];
    let urgentWrites = 0;
    let writes = 0;
    for (; writes < this.limits.writesPerTurn; writes++) {
      const isUrgent = this.urgent.length > 0;
      const stream = isUrgent ? this.urgent.shift() : this.bulk.shift();
      if (!stream) break;
      if (isUrgent) urgentWrites += 1;
      stream.isQueued = false;
      if (this.flush(stream)) again.push(stream);
    }
    for (const stream of again) this.add(stream, true);
    this.costMs += ((performance.now() - startedAt) * urgentWrites) / Math.max(1, writes);
    if (this.urgent.length === 0) this.rest();
    if (this.urgent.length + this.bulk.length + this.dirty.size > 0) this.schedule();
  }

  private collect(): void {
    const topics = this.dirty;
    this.dirty = new Set();
    for (const topic of topics) topic.collect((stream) => this.add(stream, topic.isUrgent));
  }

  private flush(stream: EventStream): boolean {
    try {
      return stream.flush();
    } catch (error) {
      this.onError(error);
      return false;
    }
  }

  private rest(): void {
    this.restUntil =
      performance.now() + Math.min(this.limits.maxCoalesceMs, this.costMs * restFactor);
    this.costMs = 0;
  }
}
