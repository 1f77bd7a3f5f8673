import type { Chunk } from "./frames.ts";
import type { TopicRequest } from "./hub.ts";
import type { EventStream } from "./stream.ts";
import type { Topic } from "./topics.ts";

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
  readonly isSpectator: boolean;
  /** Set once the subscriber follows its topic. */
  source: Source | null = null;
  cursor = 0;
  /** Until then it has to follow its topic, by `performance.now()`; null: it does. */
  joinBy: number | null;
  /** Neither told a number by the client nor sent one yet. */
  private isFresh: boolean;

  constructor(stream: EventStream, request: TopicRequest, isFresh: boolean, joinBy: number) {
    this.stream = stream;
    this.topic = request.topic;
    this.seatId = request.seatId;
    this.isSpectator = request.isSpectator;
    this.isFresh = isFresh;
    this.joinBy = joinBy;
  }

  /** What an id says about this topic. */
  get mark(): string {
    return this.isFresh ? unknownMark : String(this.cursor);
  }

  moveTo(seq: number): void {
    this.cursor = seq;
    this.isFresh = false;
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

  next(): Chunk | null {
    return this.source?.next(this.cursor, this.isSpectator) ?? null;
  }

  get isBehind(): boolean {
    return this.next() !== null;
  }
}

/** Stands in an id for a topic of which the client has nothing yet. */
const unknownMark = "-";

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
