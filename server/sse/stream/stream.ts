import type { StreamResponse } from "../../http/uws/stream-response.ts";
import { encodeRetry, heartbeat, relabel, type Chunk } from "./frames.ts";
import type { Subscription, TopicRequest } from "../delivery/hub.ts";
import type { HubLimits } from "../delivery/limits.ts";
import { splitLastEventId, Subscriber } from "./subscriber.ts";
import type { Topic } from "../topics/topics.ts";

export type EndReason =
  "client" | "expired" | "aged" | "removed" | "ended" | "slow" | "drained" | "gone" | "unavailable";

/** What all streams of a hub share. */
export interface StreamHost {
  limits: HubLimits;
  /** The socket took everything it was given; runs inside a uWebSockets callback. */
  onWritable: (stream: EventStream) => void;
  /** Before a chunk is written; the subscriber still has its former number. */
  onDeliver: (subscriber: Subscriber, chunk: Chunk) => void;
  /** Nothing more comes from the subscriber's topic, and its stream goes on with others. */
  onConcluded: (subscriber: Subscriber) => void;
  onEnd: (stream: EventStream, reason: EndReason) => void;
}

const isNumbered = ({ topic }: { topic: Topic }) => topic.code !== undefined;

/**
 * uWebSockets sends the line break that ends an HTTP chunk together with the next chunk, and a client that
 * reads whole chunks waits for it. So a second chunk follows at once: an empty line, which an event stream
 * ignores.
 */
const chunkEnd = Buffer.from("\n");

/** In one packet; false when the socket did not take it all. */
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
  /** False from the first write the kernel did not take until it has taken all. */
  isWritable = true;
  private needsHeartbeat = false;
  private readonly host: StreamHost;
  private readonly raw: StreamResponse["raw"];
  /** By `performance.now()`, as all times of a stream. */
  private writtenAt = performance.now();
  private endAt: number;
  private endReason: EndReason = "aged";
  /** Ids tell of these; more than one makes them composed (HUB-03). */
  private readonly numbered: readonly Subscriber[];
  private waiters: (() => void)[] = [];
  /** What the socket was not offered yet. */
  private rest: Buffer | null = null;

  constructor(subscription: Subscription, response: StreamResponse, host: StreamHost) {
    const { limits } = host;
    this.subscription = subscription;
    this.host = host;
    this.raw = response.raw;
    const joinBy = this.writtenAt + limits.joinMs;
    const { topics, lastEventId } = subscription;
    const lastIds = splitLastEventId(lastEventId, topics.filter(isNumbered).length);
    const lastIdOf = (request: TopicRequest) =>
      isNumbered(request) ? (lastIds.shift() ?? null) : null;
    this.subscribers = topics.map(
      (request) => new Subscriber(this, request, lastIdOf(request), joinBy),
    );
    this.numbered =
      this.subscribers.length === 1 ? this.subscribers : this.subscribers.filter(isNumbered);
    const ageMs = limits.minAgeMs + Math.random() * (limits.maxAgeMs - limits.minAgeMs);
    this.endAt = this.writtenAt + ageMs;
    response.onClose(() => this.finish("client"));
    this.raw.onWritable(() => {
      if (this.isClosed) return true;
      this.offer();
      if (!this.isWritable) return false;
      this.wake();
      this.host.onWritable(this);
      return true;
    });
  }

  write(bytes: Buffer): void {
    if (this.isClosed) return;
    if (this.rest === null && bytes.length <= this.host.limits.maxPieceBytes)
      return this.put(bytes, true);
    this.rest = this.rest === null ? bytes : Buffer.concat([this.rest, bytes]);
    if (this.isWritable) this.offer();
  }

  /**
   * The rest goes out piece by piece: the reader of a long message is seen to take it, however slow, and for
   * one who takes nothing no more than a piece is kept.
   */
  private offer(): void {
    const { maxPieceBytes } = this.host.limits;
    this.isWritable = true;
    while (this.rest !== null && this.isWritable) {
      const piece = this.rest.subarray(0, maxPieceBytes);
      this.rest = piece.length < this.rest.length ? this.rest.subarray(maxPieceBytes) : null;
      this.put(piece, this.rest === null);
    }
  }

  /** `isWhole` is false of a piece that another one follows: an empty line would cut its event in two. */
  private put(bytes: Buffer, isWhole: boolean): void {
    // What the cork buffer cannot hold uncorks the socket: each part of another chunk would be a packet.
    const isOnePacket = bytes.length <= this.host.limits.maxWriteBytes;
    this.isWritable = writeCorked(this.raw, bytes, isWhole && isOnePacket);
    if (isWhole && !isOnePacket)
      this.isWritable = writeCorked(this.raw, chunkEnd, false) && this.isWritable;
    this.writtenAt = performance.now();
    this.needsHeartbeat = false;
  }

  deliver(subscriber: Subscriber, chunk: Chunk): void {
    this.host.onDeliver(subscriber, chunk);
    const isComposed = this.numbered.length > 1 && subscriber.topic.code !== undefined;
    const bytes = isComposed ? relabel(chunk, (seq) => this.idAt(subscriber, seq)) : chunk.bytes;
    this.write(bytes);
    subscriber.moveTo(chunk.lastSeq);
    if (chunk.isEnd) this.conclude(subscriber);
    if (chunk.removedSeat !== null && chunk.removedSeat === subscriber.seatId) this.end("removed");
    if (chunk.endsSpectators && subscriber.isSpectator) this.end("removed");
  }

  /** The id with which a client returns to `seq` of this subscriber, and to what it has of the others. */
  idAt(subscriber: Subscriber, seq: number): string {
    if (this.numbered.length < 2) return String(seq);
    return this.numbered.map((one) => (one === subscriber ? seq : one.mark)).join(".");
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
    if (this.needsHeartbeat) this.write(heartbeat);
    return false;
  }

  /** Nothing more comes from its topic: the stream ends a while later, unless others of its topics go on. */
  conclude(subscriber: Subscriber): void {
    if (this.subscribers.every((one) => one === subscriber || one.hasLeft))
      this.endIn(this.host.limits.endedGraceMs, "ended");
    else this.host.onConcluded(subscriber);
  }

  /** Brings the end forward; a later one is ignored. */
  endIn(ms: number, reason: EndReason): void {
    const at = performance.now() + ms;
    if (at >= this.endAt) return;
    this.endAt = at;
    this.endReason = reason;
  }

  /** A subscriber is started again; until that time it has to follow its topic. */
  restart(subscriber: Subscriber): void {
    subscriber.unfollow(performance.now() + this.host.limits.joinMs);
  }

  /** Ends what is due; true when a heartbeat is due. `nowMs` is the wall clock, for the token. */
  check(now: number, nowMs: number): boolean {
    const { expiresAt } = this.subscription;
    const { heartbeatMs, maxBlockedMs } = this.host.limits;
    const silentMs = now - this.writtenAt;
    if (expiresAt !== null && expiresAt <= nowMs) this.end("expired");
    else if (now >= this.endAt && !this.isPatient()) this.endAsDue();
    else if (!this.isWritable && silentMs >= maxBlockedMs) this.end("slow");
    else if (this.isLate(now)) this.end("unavailable");
    if (this.isClosed || !this.isWritable) return false;
    this.needsHeartbeat = silentMs >= heartbeatMs;
    return this.needsHeartbeat;
  }

  /** Resolves when the socket takes more, or the stream is over. */
  async writable(): Promise<void> {
    if (this.isClosed || this.isWritable) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
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

  /** Nothing more comes, and whoever is cut off in what is left would come back for it again. */
  private isPatient(): boolean {
    return !this.isWritable && this.endReason === "ended";
  }

  private endAsDue(): void {
    const { agedRetryMs } = this.host.limits;
    this.end(this.endReason, this.endReason === "aged" ? encodeRetry(agedRetryMs) : null);
  }

  private isLate(now: number): boolean {
    for (const { joinBy } of this.subscribers) if (joinBy !== null && now >= joinBy) return true;
    return false;
  }

  private finish(reason: EndReason): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.rest = null;
    this.wake();
    this.host.onEnd(this, reason);
  }

  private wake(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}
