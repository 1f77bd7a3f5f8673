import { CoalescedTask } from "../../platform/cache/coalesced-task.ts";
import type { Chunk, Frame } from "../stream/frames.ts";
import { frameOf, joinFrames } from "../stream/frames.ts";
import type { Feed } from "../delivery/feed.ts";
import type { HubLimits } from "../delivery/limits.ts";
import { wasPublic } from "./public-time.ts";
import { isContiguous } from "./repair.ts";
import { Ring, type RingBudget } from "./ring.ts";
import type { EventStream } from "../stream/stream.ts";
import type { Source, Subscriber } from "../stream/subscriber.ts";
import type { Dirty } from "../stream/writer.ts";

export interface LobbySnapshot {
  seq: number;
  /** JSON text of the whole `lobby.snapshot` message. */
  payload: string;
}

export interface LobbyTopicDeps {
  /** What its snapshots and gaps are named after. */
  kind: string;
  name: string;
  channel: string;
  streamKey: string;
  feed: Feed;
  limits: HubLimits;
  budget: RingBudget;
  snapshot: () => Promise<LobbySnapshot | null>;
  /** Something is to be written. */
  onDirty: (topic: LobbyTopic) => void;
  /** The subscriber can no longer go on from its number: start it again with a gap (HUB-06). */
  onLost: (subscriber: Subscriber) => void;
  /** The subscriber fell behind the ring although its stream takes bytes: read on from Redis. */
  onBehind: (subscriber: Subscriber) => void;
  /** A message came in. */
  onFrame: () => void;
  /** A message is about to be written for the first time. */
  onTaken: (frame: Frame) => void;
  onError: (error: unknown) => void;
}

/**
 * The messages of one room and who listens. `ring.last` moves by exactly one per message; what does
 * not fit is read from the stream in Redis, so a lost publication is a delay and never a hole.
 */
export class LobbyTopic implements Source, Dirty {
  readonly kind: string;
  readonly name: string;
  readonly subscribers = new Set<Subscriber>();
  /** Streams that listen or are about to. */
  users = 0;
  isClosed = false;
  isEnded = false;
  readonly ready: Promise<void>;
  readonly channel: string;
  readonly streamKey: string;
  private readonly deps: LobbyTopicDeps;
  private ring: Ring | null = null;
  private markReady: () => void = () => undefined;
  private readonly repairs: CoalescedTask;
  private snapshotRead: Promise<LobbySnapshot | null> | null = null;
  /** Number of the last message that was written to anyone. */
  private taken = 0;
  private repeat: NodeJS.Timeout | null = null;

  constructor(deps: LobbyTopicDeps) {
    this.deps = deps;
    this.kind = deps.kind;
    this.name = deps.name;
    this.channel = deps.channel;
    this.streamKey = deps.streamKey;
    this.ready = new Promise((resolve) => (this.markReady = resolve));
    this.repairs = new CoalescedTask(() => this.readMissing());
  }

  get last(): number {
    return this.ring?.last ?? 0;
  }

  onConfirmed(): void {
    this.heal();
  }

  onMessage(text: string): void {
    const end = text.indexOf("\n");
    const seq = Number(text.slice(0, end));
    // Before the first read nothing is known to be missing; that read runs after the confirmation.
    if (!this.ring || !Number.isSafeInteger(seq) || end < 1) return this.heal();
    if (seq <= this.ring.last) return;
    if (seq > this.ring.last + 1) return this.heal();
    this.append(frameOf(seq, text.slice(end + 1)));
  }

  covers(cursor: number): boolean {
    return this.ring?.covers(cursor) ?? false;
  }

  next(cursor: number, isSpectator: boolean): Chunk | null {
    if (!this.ring || cursor >= this.ring.last || !this.ring.covers(cursor)) return null;
    const { frames, start } = this.ring.after(cursor);
    const { maxWriteBytes } = this.deps.limits;
    const chunk = joinFrames(frames, start, maxWriteBytes, isSpectator);
    if (chunk) this.measure(chunk);
    return chunk;
  }

  /** The subscriber must be covered; from here on it gets everything after its cursor. */
  attach(subscriber: Subscriber): void {
    if (subscriber.hasLeft) return;
    this.subscribers.add(subscriber);
    subscriber.follow(this);
    if (subscriber.cursor < this.last) this.deps.onDirty(this);
    else if (this.isEnded) subscriber.stream.conclude(subscriber);
  }

  collect(add: (stream: EventStream) => void): void {
    for (const subscriber of this.subscribers) {
      const { cursor, stream } = subscriber;
      if (cursor >= this.last) continue;
      if (stream.isWritable && this.covers(cursor)) add(stream);
      else if (stream.isWritable) this.detach(subscriber, this.deps.onBehind);
      else if (this.isTooSlow(cursor)) stream.end("slow");
    }
  }

  /** Whether the lobby was public behind number `after`, given that it said so itself at `until`. */
  wasPublic(after: number, until: number): Promise<boolean> {
    return wasPublic(after, until, (from) => this.read(from));
  }

  /** One read serves everyone who asks meanwhile: what happens after it is in the ring. */
  snapshot(): Promise<LobbySnapshot | null> {
    this.snapshotRead ??= this.deps.snapshot().finally(() => (this.snapshotRead = null));
    return this.snapshotRead;
  }

  /** Reads what is missing up to now; rejects while Redis is away. */
  repair(): Promise<void> {
    return this.repairs.run();
  }

  close(): void {
    this.isClosed = true;
    this.ring?.reset(this.ring.newest);
    if (this.repeat) clearTimeout(this.repeat);
  }

  /** Repairs, and tries again until it has worked. */
  heal(): void {
    this.repair().catch((error: unknown) => {
      if (this.isClosed || this.repeat) return;
      this.deps.onError(error);
      this.repeat = setTimeout(() => {
        this.repeat = null;
        this.heal();
      }, this.deps.limits.repeatMs);
    });
  }

  /** From number `from` on: what is in memory, else a page of what Redis has. */
  private read(from: number): Promise<Frame[]> | readonly Frame[] {
    if (!this.ring?.covers(from - 1)) return this.deps.feed.read(this.streamKey, from);
    const { frames, start } = this.ring.after(from - 1);
    return frames.slice(start);
  }

  private measure({ frames, lastSeq }: Chunk): void {
    for (const frame of frames) if (frame.seq > this.taken) this.deps.onTaken(frame);
    this.taken = Math.max(this.taken, lastSeq);
  }

  private isTooSlow(cursor: number): boolean {
    const limit = this.deps.limits.maxUnsentBytes;
    if (!this.ring?.covers(cursor)) return true;
    return this.ring.bytesAfter(cursor, limit) > limit;
  }

  private detach(subscriber: Subscriber, then: (subscriber: Subscriber) => void): void {
    this.subscribers.delete(subscriber);
    subscriber.stream.restart(subscriber);
    then(subscriber);
  }

  private append(frame: Frame): void {
    if (!this.ring || this.isClosed) return;
    this.ring.push(frame);
    this.isEnded ||= frame.isEnd;
    this.deps.onFrame();
    if (frame.removedSeat !== null) this.hurry((one) => one.seatId === frame.removedSeat);
    if (frame.isPrivate) this.hurry((one) => one.isSpectator);
    if (this.subscribers.size > 0) this.deps.onDirty(this);
  }

  /** The stream of a removed seat, or of a spectator, ends soon even when it takes nothing (S14). */
  private hurry(isMeant: (subscriber: Subscriber) => boolean): void {
    for (const subscriber of this.subscribers)
      if (isMeant(subscriber)) subscriber.stream.endIn(this.deps.limits.removalGraceMs, "removed");
  }

  private async readMissing(): Promise<void> {
    if (this.isClosed) return;
    if (!this.ring) return this.prime();
    const { feed, limits } = this.deps;
    for (let page = 0; page < limits.maxPages && !this.isClosed; page++) {
      // Publications go on during the read, so it is compared with what was known before it.
      const { newest } = this.ring;
      const frames = await feed.read(this.streamKey, newest?.seq ?? 0);
      if (!fits(frames, newest)) return this.startOver();
      for (const frame of frames) if (frame.seq === this.ring.last + 1) this.append(frame);
      if (frames.length < limits.pageMessages) return;
    }
  }

  private async prime(): Promise<void> {
    const { feed, limits, budget } = this.deps;
    const newest = await feed.newest(this.streamKey);
    this.ring ??= new Ring(newest, limits.ringMessages, limits.ringBytes, budget);
    this.isEnded = newest?.isEnd ?? false;
    this.markReady();
  }

  /** The log was trimmed beyond what we had, or went back: every stream needs a snapshot. */
  private async startOver(): Promise<void> {
    const newest = await this.deps.feed.newest(this.streamKey);
    if (!this.ring || this.isClosed) return;
    this.ring.reset(newest);
    this.isEnded = newest?.isEnd ?? false;
    for (const subscriber of [...this.subscribers]) this.detach(subscriber, this.deps.onLost);
  }
}

/** The read starts with the newest message known, which proves that nothing was trimmed or lost. */
function fits(frames: Frame[], newest: Frame | null): boolean {
  const [first] = frames;
  const last = newest?.seq ?? 0;
  if (!first) return last === 0;
  if (first.seq !== last) return isContiguous(frames, last + 1);
  // A store that lost its last moment may have used the number again for something else.
  if (newest && !newest.bytes.equals(first.bytes)) return false;
  return isContiguous(frames, last);
}
