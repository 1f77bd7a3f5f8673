import type { StreamResponse } from "../../http/uws/stream-response.ts";
import { encodeRetry, heartbeat, relabel, type Chunk } from "./frames.ts";
import type { Subscription, TopicRequest } from "../delivery/subscription.ts";
import type { HubLimits } from "../delivery/limits.ts";
// oxlint-disable-next-line import/no-cycle -- a subscriber knows its stream
import { splitLastEventId, Subscriber } from "./subscriber.ts";
import type { Topic } from "../topics/topics.ts";

export type EndReason =
  "client" | "expired" | "aged" | "removed" | "ended" | "slow" | "drained" | "gone" | "unavailable";

/** Limits and callbacks shared by all streams of a hub. */
export interface StreamHost {
  limits: HubLimits;
  /** The socket is writable again; runs inside a uWebSockets callback. */
  onWritable: (stream: EventStream) => void;
  /** Before a chunk is written; the subscriber still has its former number. */
  onDeliver: (subscriber: Subscriber, chunk: Chunk) => void;
  /** The subscriber's topic has ended, and its stream continues with other topics. */
  onSubscriptionClosed: (subscriber: Subscriber) => void;
  onEnd: (stream: EventStream, reason: EndReason) => void;
}

const isNumbered = ({ topic }: { topic: Topic }) => topic.code !== undefined;

/**
 * uWebSockets sends the line break that ends an HTTP chunk together with the next chunk, and a client that
 * reads whole chunks waits for it. So a second chunk follows at once: an empty line, which an event stream
 * ignores.
 */
const chunkEnd = Buffer.from("\n");

/** Writes in one packet; false when the socket applies backpressure. */
function writeCorked(raw: StreamResponse["raw"], bytes: Buffer, isWhole: boolean): boolean {
  let wasTaken = true;
  raw.cork(() => {
    wasTaken = raw.write(bytes);
    if (isWhole) wasTaken = raw.write(chunkEnd) && wasTaken;
  });
  return wasTaken;
}

/** One connection, with one subscriber for each of its topics. */
export class EventStream {
  readonly subscription: Subscription;
  readonly subscribers: readonly Subscriber[];
  isClosed = false;
  /** False while the socket applies backpressure. */
  isWritable = true;
  #needsHeartbeat = false;
  readonly #host: StreamHost;
  readonly #raw: StreamResponse["raw"];
  /** By `performance.now()`, as all times of a stream. */
  #writtenAt = performance.now();
  #endAt: number;
  #endReason: EndReason = "aged";
  /** Subscribers with a cursor in event ids; several compose the id (HUB-03). */
  readonly #numbered: readonly Subscriber[];
  #waiters: (() => void)[] = [];
  /** Bytes that were not written to the socket yet. */
  #unsent: Buffer | null = null;

  constructor(subscription: Subscription, response: StreamResponse, host: StreamHost) {
    const { limits } = host;
    this.subscription = subscription;
    this.#host = host;
    this.#raw = response.raw;
    const catchUpBy = this.#writtenAt + limits.catchUpMs;
    const { topics, lastEventId } = subscription;
    const lastIds = splitLastEventId(lastEventId, topics.filter(isNumbered).length);
    const lastIdOf = (request: TopicRequest) =>
      isNumbered(request) ? (lastIds.shift() ?? null) : null;
    this.subscribers = topics.map(
      (request) => new Subscriber(this, request, lastIdOf(request), catchUpBy),
    );
    this.#numbered =
      this.subscribers.length === 1 ? this.subscribers : this.subscribers.filter(isNumbered);
    const ageMs = limits.minAgeMs + Math.random() * (limits.maxAgeMs - limits.minAgeMs);
    this.#endAt = this.#writtenAt + ageMs;
    response.onClose(() => this.#finish("client"));
    this.#raw.onWritable(() => {
      if (this.isClosed) return true;
      this.#offer();
      if (!this.isWritable) return false;
      this.#wake();
      this.#host.onWritable(this);
      return true;
    });
  }

  write(bytes: Buffer): void {
    if (this.isClosed) return;
    if (this.#unsent === null && bytes.length <= this.#host.limits.maxPieceBytes)
      return this.#put(bytes, true);
    this.#unsent = this.#unsent === null ? bytes : Buffer.concat([this.#unsent, bytes]);
    if (this.isWritable) this.#offer();
  }

  /**
   * Writes a long message in pieces: the progress of a slow client resets the write timeout, and a stalled client
   * costs one piece of memory only.
   */
  #offer(): void {
    const { maxPieceBytes } = this.#host.limits;
    this.isWritable = true;
    while (this.#unsent !== null && this.isWritable) {
      const piece = this.#unsent.subarray(0, maxPieceBytes);
      this.#unsent =
        piece.length < this.#unsent.length ? this.#unsent.subarray(maxPieceBytes) : null;
      this.#put(piece, this.#unsent === null);
    }
  }

  /** `isWhole` is false of a piece that another one follows: an empty line would cut its event in two. */
  #put(bytes: Buffer, isWhole: boolean): void {
    // What the cork buffer cannot hold uncorks the socket: each part of another chunk would be a packet.
    const isOnePacket = bytes.length <= this.#host.limits.maxWriteBytes;
    this.isWritable = writeCorked(this.#raw, bytes, isWhole && isOnePacket);
    if (isWhole && !isOnePacket)
      this.isWritable = writeCorked(this.#raw, chunkEnd, false) && this.isWritable;
    this.#writtenAt = performance.now();
    this.#needsHeartbeat = false;
  }

  deliver(subscriber: Subscriber, chunk: Chunk): void {
    this.#host.onDeliver(subscriber, chunk);
    const isComposed = this.#numbered.length > 1 && subscriber.topic.code !== undefined;
    const bytes = isComposed ? relabel(chunk, (seq) => this.idAt(subscriber, seq)) : chunk.bytes;
    this.write(bytes);
    subscriber.moveTo(chunk.lastSeq);
    if (chunk.isEnd) this.closeSubscription(subscriber);
    if (chunk.removedSeat !== null && chunk.removedSeat === subscriber.seatId) this.end("removed");
    if (chunk.endsSpectators && subscriber.isSpectator) this.end("removed");
  }

  /** The event id for `seq` of this subscriber, with the cursors of the other topics. */
  idAt(subscriber: Subscriber, seq: number): string {
    if (this.#numbered.length < 2) return String(seq);
    return this.#numbered.map((one) => (one === subscriber ? seq : one.idCursor)).join(".");
  }

  /** Sends a chunk of each topic, or a comment when nothing else is due; true when there is more. */
  flush(): boolean {
    let hasSent = false;
    for (const subscriber of this.subscribers) {
      if (this.isClosed || !this.isWritable) return false;
      const chunk = subscriber.next();
      if (!chunk) continue;
      hasSent = true;
      this.deliver(subscriber, chunk);
    }
    if (this.isClosed || !this.isWritable) return false;
    if (hasSent) return this.subscribers.some((subscriber) => subscriber.isBehind);
    if (this.#needsHeartbeat) this.write(heartbeat);
    return false;
  }

  /** Closes the subscription after its topic ended: the stream ends after a grace time unless other topics continue. */
  closeSubscription(subscriber: Subscriber): void {
    if (this.subscribers.every((one) => one === subscriber || one.hasLeft))
      this.endIn(this.#host.limits.endedGraceMs, "ended");
    else this.#host.onSubscriptionClosed(subscriber);
  }

  /** Brings the end forward; a later one is ignored. */
  endIn(ms: number, reason: EndReason): void {
    const at = performance.now() + ms;
    if (at >= this.#endAt) return;
    this.#endAt = at;
    this.#endReason = reason;
  }

  /** Ends an expired or timed-out stream; true when a heartbeat is due. `nowMs` is the wall clock, for the token. */
  check(now: number, nowMs: number): boolean {
    const { expiresAt } = this.subscription;
    const { heartbeatMs, maxBlockedMs } = this.#host.limits;
    const silentMs = now - this.#writtenAt;
    if (expiresAt !== null && expiresAt <= nowMs) this.end("expired");
    else if (now >= this.#endAt && !this.#isFinishing()) this.#endAsDue();
    else if (!this.isWritable && silentMs >= maxBlockedMs) this.end("slow");
    else if (this.#hasCatchUpTimedOut(now)) this.end("unavailable");
    if (this.isClosed || !this.isWritable) return false;
    this.#needsHeartbeat = silentMs >= heartbeatMs;
    return this.#needsHeartbeat;
  }

  /** Resolves when the socket is writable or closed. */
  async writable(): Promise<void> {
    if (this.isClosed || this.isWritable) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /**
   * Ends the response in order, so that a client reconnects with its last id. A blocked socket is closed instead,
   * since its bytes would stay in memory (S42).
   */
  end(reason: EndReason, finalBytes: Buffer | null = null): void {
    if (this.isClosed) return;
    const { isWritable } = this;
    this.#finish(reason);
    if (!isWritable) {
      this.#raw.close();
      return;
    }
    this.#raw.cork(() => {
      if (finalBytes) this.#raw.write(finalBytes);
      // Never end(x, true): after chunked writes it puts a header line into the body.
      this.#raw.end();
    });
  }

  /** True while a blocked client still receives the last messages: disconnected now, it would reconnect for them. */
  #isFinishing(): boolean {
    return !this.isWritable && this.#endReason === "ended";
  }

  #endAsDue(): void {
    const { agedRetryMs } = this.#host.limits;
    this.end(this.#endReason, this.#endReason === "aged" ? encodeRetry(agedRetryMs) : null);
  }

  #hasCatchUpTimedOut(now: number): boolean {
    for (const { catchUpBy } of this.subscribers)
      if (catchUpBy !== null && now >= catchUpBy) return true;
    return false;
  }

  #finish(reason: EndReason): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#unsent = null;
    this.#wake();
    this.#host.onEnd(this, reason);
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
