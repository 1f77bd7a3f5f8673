import { performance } from "node:perf_hooks";
import type { HubLimits } from "./limits.ts";
import type { EventStream } from "./stream.ts";

/** A topic that has something new. */
export interface Dirty {
  /** Lobby messages are; broadcasts to thousands are not. */
  readonly isUrgent: boolean;
  /** Hands over every stream that has to be looked at. */
  collect(add: (stream: EventStream) => void): void;
}

/** Share of the time that broadcasts and heartbeats get: a slice is followed by three times its length without one. */
const bulkShare = 1 / 4;

/**
 * Writes to streams in turns of their own, at the next turn of the event loop. uWebSockets has one cork buffer, owned
 * by the running handler's response: written from there, each message would cost four system calls per stream.
 * A turn writes to a bounded number of streams, so that a broadcast does not hold requests up;
 * lobby streams go before broadcasts and heartbeats, which are spread over time.
 */
export class Writer {
  private readonly limits: HubLimits;
  private readonly onError: (error: unknown) => void;
  private dirty = new Set<Dirty>();
  private readonly urgent = new Set<EventStream>();
  private readonly bulk = new Set<EventStream>();
  private turn: NodeJS.Immediate | null = null;
  private bulkTimer: NodeJS.Timeout | null = null;
  /** No broadcast is written before, by `performance.now()`. */
  private bulkRestUntil = 0;

  constructor(limits: HubLimits, onError: (error: unknown) => void) {
    this.limits = limits;
    this.onError = onError;
  }

  /** Messages that come until the next turn are written together. */
  mark(topic: Dirty): void {
    this.dirty.add(topic);
    this.schedule();
  }

  /** A stream that waits among the many is moved forward by something urgent. */
  add(stream: EventStream, isUrgent: boolean): void {
    if (stream.isClosed || this.urgent.has(stream)) return;
    if (isUrgent) {
      this.bulk.delete(stream);
      this.urgent.add(stream);
    } else this.bulk.add(stream);
    this.schedule();
  }

  stop(): void {
    if (this.turn) clearImmediate(this.turn);
    if (this.bulkTimer) clearTimeout(this.bulkTimer);
  }

  private schedule(): void {
    if (this.turn) return;
    const restMs = this.bulkRestUntil - performance.now();
    if (this.urgent.size + this.dirty.size > 0 || restMs < 1) {
      this.turn = setImmediate(() => this.run());
      return;
    }
    this.bulkTimer ??= setTimeout(() => {
      this.bulkTimer = null;
      this.turn ??= setImmediate(() => this.run());
    }, restMs);
  }

  /** What is added during a turn is for this one, and needs no other. */
  private run(): void {
    try {
      this.takeTurn();
    } finally {
      this.turn = null;
      if (this.urgent.size + this.bulk.size + this.dirty.size > 0) this.schedule();
    }
  }

  private takeTurn(): void {
    this.collect();
    const isBulkDue = this.bulk.size > 0 && performance.now() >= this.bulkRestUntil - 1;
    const { writesPerTurn, bulkWritesPerTurn } = this.limits;
    const bulkMost = isBulkDue ? bulkWritesPerTurn : 0;
    this.write(this.urgent, writesPerTurn - Math.min(this.bulk.size, bulkMost));
    if (!isBulkDue) return;
    const bulkFrom = performance.now();
    this.write(this.bulk, bulkMost);
    const now = performance.now();
    this.bulkRestUntil = now + (now - bulkFrom) * (1 / bulkShare - 1);
  }

  /** Writes to at most `most` streams of a queue, the longest waiting first. */
  private write(queue: Set<EventStream>, most: number): void {
    const again: EventStream[] = [];
    let writes = 0;
    for (const stream of queue) {
      if (writes >= most) break;
      queue.delete(stream);
      writes += 1;
      if (this.flush(stream)) again.push(stream);
    }
    for (const stream of again) this.add(stream, true);
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
}
