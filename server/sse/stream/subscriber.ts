import type { Chunk } from "./frames.ts";
import type { TopicRequest } from "../delivery/hub.ts";
import type { EventStream } from "./stream.ts";
import type { Topic } from "../topics/topics.ts";

/** Where a subscriber finds what it has not sent yet. */
export interface Source {
  /** The next frames after `cursor`, for one write. */
  next(cursor: number, isSpectator: boolean): Chunk | null;
}

/** One topic on one stream. Holds no messages: only the number of the last one sent. */
export class Subscriber {
  readonly stream: EventStream;
  readonly topic: Topic;
  readonly seatId: number | null;
  readonly publicAt: number | null;
  /** Set once the subscriber follows its topic. */
  source: Source | null = null;
  cursor = 0;
  /** Until then it has to follow its topic, by `performance.now()`; null: it does. */
  joinBy: number | null;
  /** Follows its topic no more, while its stream may go on. */
  hasLeft = false;
  /** What an id says until the cursor has a place: what the client came back with; null: the cursor. */
  private initialMark: string | null;

  /** `lastId` is what the client came back with for this topic; null: it has nothing yet. */
  constructor(stream: EventStream, request: TopicRequest, lastId: string | null, joinBy: number) {
    this.stream = stream;
    this.topic = request.topic;
    this.seatId = request.seatId;
    this.publicAt = request.publicAt;
    this.initialMark = lastId === null ? unknownMark : markOf(lastId);
    this.joinBy = joinBy;
  }

  get isSpectator(): boolean {
    return this.publicAt !== null;
  }

  /** What an id says about this topic. */
  get mark(): string {
    return this.initialMark ?? String(this.cursor);
  }

  moveTo(seq: number): void {
    this.cursor = seq;
    this.initialMark = null;
  }

  /** The client cannot go on from what it has: until it has a snapshot, its ids have to lead to a gap. */
  loseMark(): void {
    this.initialMark = lostMark;
  }

  follow(source: Source): void {
    this.source = source;
    this.joinBy = null;
  }

  /** The subscriber is to be started again. */
  unfollow(joinBy: number): void {
    this.source = null;
    this.joinBy = joinBy;
  }

  leave(): void {
    this.hasLeft = true;
    this.source = null;
    this.joinBy = null;
  }

  next(): Chunk | null {
    return this.source?.next(this.cursor, this.isSpectator) ?? null;
  }

  get isBehind(): boolean {
    return this.next() !== null;
  }
}

/** Stands in an id for a topic of which the client has nothing yet. */
export const unknownMark = "-";
/** Stands for a topic of which it has what nothing can follow. */
export const lostMark = "";
const numberPattern = /^\d{1,15}$/;

/** Ids are written with it, so that what is no number must not get into one (S22). */
const markOf = (lastId: string) => (numberPattern.test(lastId) ? lastId : lostMark);

/**
 * Divides the id a client came back with among `count` topics: null starts with a snapshot, and a
 * text that is no number with a gap before it.
 */
export function splitLastEventId(id: string | null, count: number): (string | null)[] {
  if (id === null || count === 1) return Array.from({ length: count }, () => id);
  const marks = id.split(".");
  if (marks.length !== count) return Array.from({ length: count }, () => "");
  return marks.map((mark) => (mark === unknownMark ? null : mark));
}
