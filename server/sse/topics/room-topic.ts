import type { Counter } from "prom-client";
import type { DeliveryRules, RoomSource, SnapshotMessage } from "../../platform/room-source.ts";
import { CoalescedTask } from "../../platform/tasks/coalesced-task.ts";
import { frameOf, isContiguous, joinFrames, type Chunk, type Frame } from "../stream/frames.ts";
import type { EventFeed, StoredMessage, TopicAddress } from "../delivery/event-feed.ts";
import type { HubLimits } from "../delivery/limits.ts";
import { wasPublic } from "./public-time.ts";
import { ReplayBuffer, type ReplayBufferBudget } from "./replay-buffer.ts";
import type { EventStream } from "../stream/stream.ts";
import type { Source, Subscriber } from "../stream/subscriber.ts";
import type { Flushable, Writer } from "../stream/writer.ts";
import type { RoomName } from "./topics.ts";

export interface RoomTopicDeps {
  feed: EventFeed;
  writer: Writer;
  limits: HubLimits;
  budget: ReplayBufferBudget;
  /** Counts incoming messages. */
  received: Counter.Internal;
  /** A message is about to be written for the first time. */
  onFirstWrite: (frame: Frame) => void;
  onError: (error: unknown) => void;
  /** The subscriber's cursor cannot be resumed: restart it with a gap (HUB-06). */
  onLost: (subscriber: Subscriber) => void;
  /** The subscriber fell behind the replay buffer although its socket is writable: catch up from Redis. */
  onBehind: (subscriber: Subscriber) => void;
}

/**
 * The messages of one room and its subscribers. Invariant: `buffer.last` advances by exactly one per message. After a
 * gap the messages are read from the stream in Redis, so a lost publication causes a delay, never a hole.
 */
export class RoomTopic implements Source, Flushable {
  /** What its snapshots and gaps are named after. */
  readonly kind: string;
  readonly name: string;
  readonly subscribers = new Set<Subscriber>();
  /** Streams that are attached or catching up. */
  users = 0;
  readonly ready: Promise<void>;
  readonly address: TopicAddress;
  readonly delivery: DeliveryRules;
  readonly #code: string;
  readonly #source: RoomSource;
  readonly #deps: RoomTopicDeps;
  #isClosed = false;
  #isEnded = false;
  #buffer: ReplayBuffer | null = null;
  #markReady: () => void = () => undefined;
  readonly #repairTask: CoalescedTask;
  #snapshotRead: Promise<SnapshotMessage | null> | null = null;
  /** Number of the last message that was written to anyone. */
  #lastWrittenSeq = 0;
  #repeat: NodeJS.Timeout | null = null;

  constructor({ kind, name, code }: RoomName, source: RoomSource, deps: RoomTopicDeps) {
    const { keys, delivery, commits } = source;
    this.kind = kind;
    this.name = name;
    this.address = { channel: keys.channel(code), local: { code, source: commits } };
    this.delivery = delivery;
    this.#code = code;
    this.#source = source;
    this.#deps = deps;
    this.ready = new Promise((resolve) => (this.#markReady = resolve));
    this.#repairTask = new CoalescedTask(() => this.#readMissing());
  }

  get last(): number {
    return this.#buffer?.last ?? 0;
  }

  onConfirmed(): void {
    this.#repairWithRetry();
  }

  onMessage(seq: number, text: string): void {
    // Before the first read there is no base to detect gaps against; that read runs after the confirmation.
    if (!this.#buffer || !Number.isSafeInteger(seq)) return this.#repairWithRetry();
    if (seq <= this.#buffer.last) return;
    if (seq > this.#buffer.last + 1) return this.#repairWithRetry();
    this.#append(this.#encode({ seq, text }));
  }

  contains(cursor: number): boolean {
    return this.#buffer?.contains(cursor) ?? false;
  }

  next(cursor: number, isSpectator: boolean): Chunk | null {
    if (!this.#buffer || cursor >= this.#buffer.last || !this.#buffer.contains(cursor)) return null;
    const { frames, start } = this.#buffer.after(cursor);
    const { maxWriteBytes } = this.#deps.limits;
    const chunk = joinFrames(frames, start, maxWriteBytes, isSpectator);
    if (chunk) this.#measure(chunk);
    return chunk;
  }

  /** Attaches a subscriber whose cursor the buffer contains: it gets all messages after its cursor. */
  attach(subscriber: Subscriber): void {
    if (subscriber.hasLeft) return;
    this.subscribers.add(subscriber);
    subscriber.follow(this);
    if (subscriber.cursor < this.last) this.#deps.writer.markFlushable(this);
    else if (this.#isEnded) subscriber.stream.closeSubscription(subscriber);
  }

  collect(add: (stream: EventStream) => void): void {
    for (const subscriber of this.subscribers) {
      const { cursor, stream } = subscriber;
      if (cursor >= this.last) continue;
      if (stream.isWritable && this.contains(cursor)) add(stream);
      else if (stream.isWritable) this.#detach(subscriber, this.#deps.onBehind);
      else if (this.#isTooSlow(cursor)) stream.end("slow");
    }
  }

  /** Whether the room was public behind number `after`, given that it said so itself at `until`. */
  wasPublic(after: number, until: number): Promise<boolean> {
    return wasPublic(after, until, (from) => this.#read(from));
  }

  /** Single-flight read of the snapshot: later messages are in the replay buffer. */
  snapshot(): Promise<SnapshotMessage | null> {
    this.#snapshotRead ??= this.#source
      .snapshotOf(this.#code)
      .finally(() => (this.#snapshotRead = null));
    return this.#snapshotRead;
  }

  /** One page of messages from number `from` on, from Redis; rejects while it is down. */
  async readStored(from: number): Promise<Frame[]> {
    const { feed } = this.#deps;
    const messages = await feed.read(this.#source.keys.stream(this.#code), from);
    return messages.map((message) => this.#encode(message));
  }

  /** Reads the missing messages; rejects while Redis is down. */
  repair(): Promise<void> {
    return this.#repairTask.run();
  }

  close(): void {
    this.#isClosed = true;
    this.#buffer?.reset(this.#buffer.newest);
    if (this.#repeat) clearTimeout(this.#repeat);
  }

  /** Repairs, and retries until it succeeds. */
  #repairWithRetry(): void {
    this.repair().catch((error: unknown) => {
      if (this.#isClosed || this.#repeat) return;
      this.#deps.onError(error);
      this.#repeat = setTimeout(() => {
        this.#repeat = null;
        this.#repairWithRetry();
      }, this.#deps.limits.repeatMs);
    });
  }

  /** Messages from number `from` on: from the buffer, else one page from Redis. */
  #read(from: number): Promise<Frame[]> | readonly Frame[] {
    if (!this.#buffer?.contains(from - 1)) return this.readStored(from);
    const { frames, start } = this.#buffer.after(from - 1);
    return frames.slice(start);
  }

  async #readNewest(): Promise<Frame | null> {
    const message = await this.#deps.feed.newest(this.#source.keys.stream(this.#code));
    return message && this.#encode(message);
  }

  #encode({ seq, text }: StoredMessage): Frame {
    return frameOf(seq, text, this.delivery);
  }

  #measure({ frames, lastSeq }: Chunk): void {
    for (const frame of frames)
      if (frame.seq > this.#lastWrittenSeq) this.#deps.onFirstWrite(frame);
    this.#lastWrittenSeq = Math.max(this.#lastWrittenSeq, lastSeq);
  }

  #isTooSlow(cursor: number): boolean {
    const limit = this.#deps.limits.maxUnsentBytes;
    if (!this.#buffer?.contains(cursor)) return true;
    return this.#buffer.bytesAfter(cursor, limit) > limit;
  }

  #detach(subscriber: Subscriber, then: (subscriber: Subscriber) => void): void {
    this.subscribers.delete(subscriber);
    subscriber.unfollow(performance.now() + this.#deps.limits.catchUpMs);
    then(subscriber);
  }

  #append(frame: Frame): void {
    if (!this.#buffer || this.#isClosed) return;
    this.#buffer.push(frame);
    this.#isEnded ||= frame.isEnd;
    this.#deps.received.inc();
    if (frame.removedSeat !== null) this.#endSoon((one) => one.seatId === frame.removedSeat);
    if (frame.isPrivate) this.#endSoon((one) => one.isSpectator);
    if (this.subscribers.size > 0) this.#deps.writer.markFlushable(this);
  }

  /** Ends the streams of a removed seat, or of spectators, soon even when their sockets are blocked (S14). */
  #endSoon(isMeant: (subscriber: Subscriber) => boolean): void {
    for (const subscriber of this.subscribers)
      if (isMeant(subscriber)) subscriber.stream.endIn(this.#deps.limits.removalGraceMs, "removed");
  }

  async #readMissing(): Promise<void> {
    if (this.#isClosed) return;
    if (!this.#buffer) return this.#initialize();
    const { limits } = this.#deps;
    for (let page = 0; page < limits.maxPages && !this.#isClosed; page++) {
      // Publications continue during the read, so it is compared with the newest message before it.
      const { newest } = this.#buffer;
      const frames = await this.readStored(newest?.seq ?? 0);
      if (!continuesFrom(frames, newest)) return this.#startOver();
      for (const frame of frames) if (frame.seq === this.#buffer.last + 1) this.#append(frame);
      if (frames.length < limits.pageMessages) return;
    }
  }

  async #initialize(): Promise<void> {
    const { limits, budget } = this.#deps;
    const newest = await this.#readNewest();
    this.#buffer ??= new ReplayBuffer(
      newest,
      limits.replayBufferMessages,
      limits.replayBufferBytes,
      budget,
    );
    this.#isEnded = newest?.isEnd ?? false;
    this.#markReady();
  }

  /** The stream in Redis was trimmed past our newest message, or went back: every subscriber needs a snapshot. */
  async #startOver(): Promise<void> {
    const newest = await this.#readNewest();
    if (!this.#buffer || this.#isClosed) return;
    this.#buffer.reset(newest);
    this.#isEnded = newest?.isEnd ?? false;
    for (const subscriber of [...this.subscribers]) this.#detach(subscriber, this.#deps.onLost);
  }
}

/** True when the read begins with our newest message, which proves that no message was trimmed or lost. */
function continuesFrom(frames: Frame[], newest: Frame | null): boolean {
  const [first] = frames;
  const last = newest?.seq ?? 0;
  if (!first) return last === 0;
  if (first.seq !== last) return isContiguous(frames, last + 1);
  // A Redis that lost its newest messages may have reused the number for another one.
  if (newest && !newest.bytes.equals(first.bytes)) return false;
  return isContiguous(frames, last);
}
