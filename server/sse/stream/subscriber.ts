import type { Chunk } from "./frames.ts";
import type { TopicRequest } from "../delivery/subscription.ts";
// oxlint-disable-next-line import/no-cycle -- a stream has subscribers, and each knows its stream
import type { EventStream } from "./stream.ts";
import type { Topic } from "../topics/topics.ts";

/** Source of the unsent messages of a subscriber. */
export interface Source {
  /** The next frames after `cursor`, for one write. */
  next(cursor: number, isSpectator: boolean): Chunk | null;
}

/** One topic on one stream. Holds no messages, only a cursor: the number of the last one sent. */
export class Subscriber {
  readonly stream: EventStream;
  readonly topic: Topic;
  readonly seatId: number | null;
  readonly publicAt: number | null;
  /** Set once the subscriber follows its topic. */
  source: Source | null = null;
  cursor = 0;
  /** Deadline of the catch-up, by `performance.now()`; null after it. */
  catchUpBy: number | null;
  /** The subscription has ended; the stream may continue with other topics. */
  hasLeft = false;
  /** Cursor in event ids before the catch-up: that of `Last-Event-ID`; null uses `cursor`. */
  #initialCursor: string | null;

  /** `lastId` is the part of `Last-Event-ID` for this topic; null for a new client. */
  constructor(
    stream: EventStream,
    request: TopicRequest,
    lastId: string | null,
    catchUpBy: number,
  ) {
    this.stream = stream;
    this.topic = request.topic;
    this.seatId = request.seatId;
    this.publicAt = request.publicAt;
    this.#initialCursor = lastId === null ? unknownCursor : idCursorOf(lastId);
    this.catchUpBy = catchUpBy;
  }

  get isSpectator(): boolean {
    return this.publicAt !== null;
  }

  /** Cursor of this topic in an event id. */
  get idCursor(): string {
    return this.#initialCursor ?? String(this.cursor);
  }

  moveTo(seq: number): void {
    this.cursor = seq;
    this.#initialCursor = null;
  }

  /** The client's cursor cannot be resumed: until it has a snapshot, its ids lead to a gap. */
  invalidateCursor(): void {
    this.#initialCursor = lostCursor;
  }

  follow(source: Source): void {
    this.source = source;
    this.catchUpBy = null;
  }

  /** Detaches the subscriber for a new catch-up. */
  unfollow(catchUpBy: number): void {
    this.source = null;
    this.catchUpBy = catchUpBy;
  }

  leave(): void {
    this.hasLeft = true;
    this.source = null;
    this.catchUpBy = null;
  }

  next(): Chunk | null {
    return this.source?.next(this.cursor, this.isSpectator) ?? null;
  }

  get isBehind(): boolean {
    return this.next() !== null;
  }
}

/** Cursor in an id for a topic of which the client has no message. */
export const unknownCursor = "-";
/** Cursor in an id that cannot be resumed. */
export const lostCursor = "";
const numberPattern = /^\d{1,15}$/;

/** The cursor is written into ids, so it must be a number (S22). */
const idCursorOf = (lastId: string) => (numberPattern.test(lastId) ? lastId : lostCursor);

/**
 * Splits `Last-Event-ID` into cursors of `count` topics: null starts with a snapshot, and a text that is not a
 * number starts with a gap before it.
 */
export function splitLastEventId(id: string | null, count: number): (string | null)[] {
  if (id === null || count === 1) return Array.from({ length: count }, () => id);
  const cursors = id.split(".");
  if (cursors.length !== count) return Array.from({ length: count }, () => "");
  return cursors.map((cursor) => (cursor === unknownCursor ? null : cursor));
}
