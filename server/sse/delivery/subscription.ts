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
