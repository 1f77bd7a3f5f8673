import type { StreamResponse } from "../../http/uws/stream-response.ts";
import type { Topic } from "../topics/topics.ts";

/** One topic of a stream, and as whom it is followed. */
export interface TopicRequest {
  topic: Topic;
  /** Seat the token belongs to; null for the public list and for spectators. */
  seatId: number | null;
  /**
   * Of a spectator, who sees what anyone may see (HUB-08): number of the lobby's newest message when it said
   * that it is public; null for all others.
   */
  publicAt: number | null;
}

export interface Subscription {
  /** In the order of the request; at least one, none twice. */
  topics: readonly TopicRequest[];
  /** From `Last-Event-ID`; null starts with a snapshot (HUB-06). */
  lastEventId: string | null;
  /** Milliseconds since the epoch at which the first token ends; null without a token. */
  expiresAt: number | null;
  ip: string;
}

export interface Hub {
  /** Streams are only sent back: nothing else may be answered, since it would be final for a browser. */
  readonly isDraining: boolean;
  /**
   * Takes the stream's places; throws AppError when a bound is reached. `open` or `abandon` must follow.
   */
  admit(subscription: Subscription): Promise<void>;
  open(subscription: Subscription, response: StreamResponse): void;
  /** Gives the places back: the client left before its stream was opened. */
  abandon(subscription: Subscription): void;
  /** Ends a stream that was never opened with the time to come back. */
  sendBack(response: StreamResponse): void;
  /** Ends every stream so that clients come back elsewhere (S41), then closes the hub's connections. */
  drain(graceMs: number): Promise<void>;
}
