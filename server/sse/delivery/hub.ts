import type { StreamResponse } from "../../http/uws/stream-response.ts";
import type { Topic } from "../topics/topics.ts";

/** One topic of a stream, and the subscriber's identity in it. */
export interface TopicRequest {
  topic: Topic;
  /** Seat the token belongs to; null for lists and for spectators. */
  seatId: number | null;
  /**
   * Set for a spectator, who receives public messages only (HUB-08): number of the newest message at the time the
   * room reported itself public. Null for all others.
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
  /** New streams get a retry time only: a browser would treat an error status as final. */
  readonly isDraining: boolean;
  /**
   * Acquires the stream's slots; throws AppError when a quota is exhausted. `open` or `abandon` must follow.
   */
  admit(subscription: Subscription): Promise<void>;
  open(subscription: Subscription, response: StreamResponse): void;
  /** Releases the slots when the client left before its stream was opened. */
  abandon(subscription: Subscription): void;
  /** Ends a stream that was never opened, with a reconnect time. */
  rejectWithRetry(response: StreamResponse): void;
  /** Open streams of this process. */
  countStreams(): number;
  /** Subscribers of a topic in this process, by its name. */
  countSubscribers(topic: string): number;
  /** Drains the hub: ends every stream so that clients reconnect elsewhere (S41), then closes its connections. */
  drain(graceMs: number): Promise<void>;
}
