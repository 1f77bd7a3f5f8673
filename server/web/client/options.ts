/**
 * Time and randomness, replaceable in tests. `sleep` resolves early when aborted. Like every function of the options,
 * these are called without `this`.
 */
export interface Clock {
  /** Milliseconds since 1970 by the device's clock, which may be set forward or back. */
  now: () => number;
  /** Milliseconds of a monotonic clock, for measuring durations. */
  elapsed: () => number;
  /** From 0 to below 1. */
  random: () => number;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** A guest player of the service. The holder of `reclaim_token` can become this guest again. */
export interface Guest {
  player_id: number;
  name: string;
  access_token: string;
  expires_at_ms: number;
  /**
   * Lifetime of the access token when it was issued. A longer remaining time means that the clock was set
   * back.
   */
  lifetime_ms?: number;
  reclaim_token: string;
}

/**
 * Storage of the guest between visits; without one the guest lasts as long as the client. Its functions are called
 * without `this`, so bind the methods of a class.
 */
export interface GuestStore {
  load: () => Guest | null;
  save: (guest: Guest | null) => void;
}

/** The functions in it are called without `this`, as those of a browser must be. */
export interface EmberlineOptions {
  /** Address of the service without a path; not needed on a page served by the service itself. */
  url?: string;
  guest?: GuestStore;
  /**
   * Returns the access token of an account; called before every request that needs one. No guest is created
   * then. The token must be valid: a `join` with an expired token takes a seat without an account. With
   * null the request is sent without a token, which suffices for public data.
   */
  accessToken?: () => string | null | Promise<string | null>;
  /** Prefix of the service's topics (its setting TOPIC_BASE). */
  topicBase?: string;
  fetch?: typeof fetch;
  clock?: Clock;
  /**
   * By default only headers identify the caller, so that two seats in one browser stay separate, and the
   * browser's cache is not used. A page served by the service itself may want its cookies or its cache.
   */
  credentials?: "omit" | "same-origin";
  cache?: "no-store" | "default";
  /**
   * Sends the requests of a lobby directly to the worker that owns it, where the service has a port for each worker
   * (its setting WORKER_PORTS) and that port is reachable. Default true.
   */
  followOwner?: boolean;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Time for all attempts together; default 30 s, for `start` 60 s. */
  deadlineMs?: number;
  /** `Idempotency-Key`: a call repeated with it counts once. Random by default. */
  key?: string;
}

/** State and version of the service. */
export interface Health {
  status: "ok" | "degraded";
  uptime: string;
  version: string;
}

/** `behind`: for 5 s the lobby is known to be ahead of the stream, or nothing has come since the device woke. */
export type StreamState = "connecting" | "open" | "lost" | "behind";

export interface StreamOptions {
  signal?: AbortSignal;
  /** Id of the last event of an earlier stream, to resume after it. */
  lastEventId?: string;
  onState?: (state: StreamState) => void;
  /**
   * `release` leaves the connection while the page is hidden, and catches up when it is visible again: a browser has
   * few connections to one service for all its tabs. Heartbeats go on. Default `follow`.
   */
  whileHidden?: "follow" | "release";
}

/** A room of any kind, to follow its events. */
export interface RoomKey {
  kind: string;
  code: string;
  /** Where its hub token is read, and the token of the seat; without it for a room that anyone may follow. */
  token?: { path: string; seat?: string };
}

/** Everything needed to resume a seat. */
export interface SeatKey {
  code: string;
  token: string;
  playerId: number;
}
