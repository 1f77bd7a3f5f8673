import type { StreamResponse } from "../http/stream-response.ts";

export interface Subscription {
  topic: string;
  /** From `Last-Event-ID`; null starts with a snapshot (HUB-06). */
  lastEventId: string | null;
  /** Milliseconds since the epoch at which the token ends; null for the public list. */
  expiresAt: number | null;
  /** Seat the token belongs to; null for the public list and for spectators. */
  seatId: number | null;
  /** Without a seat, in a public lobby (HUB-08). */
  isSpectator: boolean;
  ip: string;
}

export interface Hub {
  /** Throws AppError when a bound is reached; otherwise the stream may be opened. */
  admit(subscription: Subscription): void;
  open(subscription: Subscription, response: StreamResponse): void;
  /** Ends every stream so that clients come back elsewhere (S41), then closes the hub's connections. */
  drain(graceMs: number): Promise<void>;
}
