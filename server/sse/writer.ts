import { performance } from "node:perf_hooks";
import type { HubLimits } from "./limits.ts";
import { coalesceMs, debtAfter, restAfterSlice } from "./pace.ts";
import { Queue } from "./queue.ts";
import type { EventStream } from "./stream.ts";

/** A topic that has something new. */
export interface Dirty {
  /** Lobby messages are; broadcasts to thousands are not. */
  readonly isUrgent: boolean;
  /** Hands over every stream that has to be looked at. */
  collect(add: (stream: EventStream) => void): void;
}

/** A single late turn is no pressure; several in a row are. */
const lagWeight = 0.2;
/** Time over which it is looked at whether the process is busy. */
const idleOverMs = 100;

/**
 * Writes to streams in turns of their own. uWebSockets has one cork buffer, owned by the running
 * handler's response: written from there, each message would cost four system calls per stream.
 * A turn writes to a bounded number of streams, so that a broadcast does not hold requests up;
 * lobby streams go before broadcasts and heartbeats, which are spread over time.
 */
export class Writer {
  private readonly limits: HubLimits;
  private readonly onError: (error: unknown) => void;
  private dirty = new Set<Dirty>();
  private readonly urgent = new Queue<EventStream>();
  private readonly bulk = new Queue<EventStream>();
  private turn: NodeJS.Immediate | null = null;
  private pause: NodeJS.Timeout | null = null;
  private pauseUntil = 0;
  private askedAt = 0;
  private restUntil = 0;
  private bulkRestUntil = 0;
  private restedAt = 0;
  /** Of the event loop, since the process began; milliseconds. */
  private idleTime = 0;
  private idleShare = 1;
  private costMs = 0;
  private debtMs = 0;
  private lagMs = 0;

  constructor(limits: HubLimits, onError: (error: unknown) => void) {
    this.limits = limits;
    this.onError = onError;
  }

  /** Messages that come until the next flush are written together. */
  mark(topic: Dirty): void {
    this.dirty.add(topic);
    this.schedule();
  }

  /** A stream that waits among the many is moved forward by something urgent. */
  add(stream: EventStream, isUrgent: boolean): void {
    const queue = isUrgent ? "urgent" : "bulk";
    if (stream.isClosed || stream.queue === queue || stream.queue === "urgent") return;
    stream.queue = queue;
    this[queue].push(stream);
    this.schedule();
  }

  stop(): void {
    if (this.turn) clearImmediate(this.turn);
    if (this.pause) clearTimeout(this.pause);
  }

  private schedule(): void {
    if (this.turn) return;
    const now = performance.now();
    const due = this.dueAt();
    if (due - now < 1) return this.soon(now);
    if (this.pause && this.pauseUntil <= due) return;
    if (this.pause) clearTimeout(this.pause);
    this.pauseUntil = due;
    this.pause = setTimeout(() => {
      this.pause = null;
      if (!this.turn) this.soon(performance.now());
    }, due - now);
  }

  /** When there is something that may be written, by `performance.now()`. */
  private dueAt(): number {
    if (this.urgent.size > 0) return 0;
    const bulkAt = this.bulk.size > 0 ? this.bulkRestUntil : Infinity;
    return this.dirty.size > 0 ? Math.min(this.restUntil, bulkAt) : bulkAt;
  }

  private soon(now: number): void {
    this.askedAt = now;
    this.turn = setImmediate(() => this.run());
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
    const startedAt = performance.now();
    const lagMs = startedAt - this.askedAt;
    if (startedAt >= this.restUntil - 1) this.collect();
    const isBulkDue = this.bulk.size > 0 && startedAt >= this.bulkRestUntil - 1;
    const { writesPerTurn, bulkWritesPerTurn } = this.limits;
    const bulkMost = isBulkDue ? bulkWritesPerTurn : 0;
    this.write("urgent", writesPerTurn - Math.min(this.bulk.size, bulkMost));
    const urgentUntil = performance.now();
    this.costMs += urgentUntil - startedAt;
    if (isBulkDue) {
      this.write("bulk", bulkMost);
      const now = performance.now();
      this.bulkRestUntil = now + restAfterSlice(now - urgentUntil);
    }
    if (this.urgent.size === 0) this.rest(lagMs);
  }

  /** Writes to at most `most` streams of a queue. */
  private write(queue: "urgent" | "bulk", most: number): void {
    const again: EventStream[] = [];
    for (let writes = 0; writes < most;) {
      const stream = this[queue].shift();
      if (!stream) break;
      // Meanwhile moved forward and written.
      if (stream.queue !== queue) continue;
      stream.queue = null;
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

  private rest(lagMs: number): void {
    const { costMs, limits } = this;
    const now = performance.now();
    const elapsedMs = now - this.restedAt;
    const { idleTime } = performance.nodeTiming;
    const idleMs = idleTime - this.idleTime;
    this.idleShare += (idleMs - this.idleShare * elapsedMs) / Math.max(elapsedMs, idleOverMs);
    this.lagMs += (lagMs - this.lagMs) * lagWeight;
    const spent = { costMs, elapsedMs, idleShare: this.idleShare };
    this.debtMs = debtAfter(this.debtMs, spent, limits.maxCoalesceMs);
    const { debtMs } = this;
    this.restUntil = now + coalesceMs({ debtMs, lagMs: this.lagMs }, limits.maxCoalesceMs);
    this.restedAt = now;
    this.idleTime = idleTime;
    this.costMs = 0;
  }
}
