import type { StreamResponse } from "../http/stream-response.ts";
import { heartbeat, type Chunk } from "./frames.ts";
import type { HubLimits } from "./limits.ts";
import type { Topic } from "./topics.ts";

export type EndReason =
  | "client"
  | "expired"
  | "aged"
  | "removed"
  | "ended"
  | "slow"
  | "drained"
  | "gone"
  | "unavailable"
  | "limit";

export interface StreamOptions {
  response: StreamResponse;
  /** Null for a stream that is turned away. */
  topic: Topic | null;
  /** Milliseconds since the epoch at which the token ends. */
  expiresAt: number | null;
  seatId: number | null;
  /** Sees what anyone may see, from a lobby that is public (HUB-08). */
  isSpectator: boolean;
  ip: string;
}

/** What all streams of a hub share. */
export interface StreamHost {
  limits: HubLimits;
  /** The socket took everything it was given; runs inside a uWebSockets callback. */
  onWritable: (stream: EventStream) => void;
  onDelivered: (messages: number) => void;
  onEnd: (stream: EventStream, reason: EndReason) => void;
}

/** Where a stream finds what it has not sent yet. */
export interface Source {
  /** The next frames after `cursor`, for one write. */
  next(cursor: number, isSpectator: boolean): Chunk | null;
}

/** One connection. Holds no messages: only the number of the last one sent. */
export class EventStream {
  readonly seatId: number | null;
  readonly isSpectator: boolean;
  readonly ip: string;
  /** Set once the stream follows its topic. */
  source: Source | null = null;
  cursor = 0;
  isClosed = false;
  /** False from the first write the kernel did not take until it has taken all. */
  isWritable = true;
  /** Waits in the writer's queue. */
  isQueued = false;
  needsHeartbeat = false;
  readonly topic: Topic | null;
  private readonly expiresAt: number | null;
  private readonly host: StreamHost;
  private readonly raw: StreamResponse["raw"];
  private writtenAt = performance.now();
  private endAt: number;
  private endReason: EndReason = "aged";
  /** Until then the stream has to follow its topic. */
  private joinBy: number;
  private waiters: (() => void)[] | null = null;

  constructor(options: StreamOptions, host: StreamHost) {
    const { response } = options;
    const { limits } = host;
    this.host = host;
    this.topic = options.topic;
    this.expiresAt = options.expiresAt;
    this.raw = response.raw;
    this.seatId = options.seatId;
    this.isSpectator = options.isSpectator;
    this.ip = options.ip;
    this.joinBy = this.writtenAt + limits.joinMs;
    this.endAt =
      this.writtenAt + limits.minAgeMs + Math.random() * (limits.maxAgeMs - limits.minAgeMs);
    response.onClose(() => this.finish("client"));
    this.raw.onWritable(() => {
      this.isWritable = true;
      this.wake();
      if (!this.isClosed) host.onWritable(this);
      return true;
    });
  }

  follow(source: Source): void {
    this.source = source;
    this.joinBy = Infinity;
  }

  /** The stream is to be started again. */
  unfollow(): void {
    this.source = null;
    this.joinBy = performance.now() + this.host.limits.joinMs;
  }

  write(bytes: Buffer): void {
    if (this.isClosed) return;
    this.raw.cork(() => {
      this.isWritable = this.raw.write(bytes);
    });
    this.writtenAt = performance.now();
    this.needsHeartbeat = false;
  }

  deliver(chunk: Chunk): void {
    this.write(chunk.bytes);
    this.cursor = chunk.lastSeq;
    this.host.onDelivered(chunk.count);
    if (chunk.isEnd) this.endIn(this.host.limits.endedGraceMs, "ended");
    if (chunk.removedSeat !== null && chunk.removedSeat === this.seatId) this.end("removed");
    if (chunk.endsSpectators && this.isSpectator) this.end("removed");
  }

  /** Sends one chunk, or a comment when nothing else is due; true when there is more to send. */
  flush(): boolean {
    if (this.isClosed || !this.isWritable) return false;
    const chunk = this.source?.next(this.cursor, this.isSpectator) ?? null;
    if (chunk) this.deliver(chunk);
    else if (this.needsHeartbeat) this.write(heartbeat);
    if (!chunk || this.isClosed || !this.isWritable) return false;
    return this.source?.next(this.cursor, this.isSpectator) !== null;
  }

  /** Brings the end forward; a later one is ignored. */
  endIn(ms: number, reason: EndReason): void {
    const at = performance.now() + ms;
    if (at >= this.endAt) return;
    this.endAt = at;
    this.endReason = reason;
  }

  /** Ends what is due; true when a heartbeat is due. `nowMs` is the wall clock, for the token. */
  check(now: number, nowMs: number): boolean {
    const { expiresAt } = this;
    if (expiresAt !== null && expiresAt <= nowMs) this.end("expired");
    else if (now >= this.endAt) this.end(this.endReason);
    else if (now >= this.joinBy) this.end("unavailable");
    if (this.isClosed || !this.isWritable) return false;
    this.needsHeartbeat = now - this.writtenAt >= this.host.limits.heartbeatMs;
    return this.needsHeartbeat;
  }

  /** Resolves when the socket takes more, or the stream is over. */
  async writable(): Promise<void> {
    if (this.isClosed || this.isWritable) return;
    await new Promise<void>((resolve) => (this.waiters ??= []).push(resolve));
  }

  /**
   * Ends the response in order, so that a client returns with its last id. A socket that does not
   * take its bytes would keep them in memory, so it is closed instead (S42).
   */
  end(reason: EndReason, farewell: Buffer | null = null): void {
    if (this.isClosed) return;
    const { isWritable } = this;
    this.finish(reason);
    if (!isWritable) {
      this.raw.close();
      return;
    }
    this.raw.cork(() => {
      if (farewell) this.raw.write(farewell);
      // Never end(x, true): after chunked writes it puts a header line into the body.
      this.raw.end();
    });
  }

  private finish(reason: EndReason): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.wake();
    this.host.onEnd(this, reason);
  }

  private wake(): void {
    const { waiters } = this;
    this.waiters = null;
    for (const resolve of waiters ?? []) resolve();
  }
}
