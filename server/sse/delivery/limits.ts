/** Every bound and time of the hub; tests shorten the times. */
export const hubLimits = {
  /** Streams of one process; beyond it 503. */
  maxStreams: 50_000,
  /** Streams of one seat, over all processes (HUB-07). */
  maxStreamsPerSeat: 8,
  /** Lease of a process in the connection quota, and its renewal interval. */
  leaseMs: 5_000,
  leaseRenewalMs: 1_000,
  /** TTL of the quota counts in Redis; no stream lives longer. */
  quotaTtlMs: 1_800_000,
  /** Command timeout of the quota, and the pause before its next command; meanwhile each process counts locally. */
  quotaTimeoutMs: 500,
  /** `Retry-After` of a refused stream, in seconds. */
  retryAfterSeconds: 10,
  /** Replay buffer of a room: its messages and bytes; older messages are read from Redis. */
  replayBufferMessages: 256,
  replayBufferBytes: 1_048_576,
  /** Bytes of all replay buffers of the process. */
  totalReplayBufferBytes: 67_108_864,
  /** Unsent bytes at which a slow client is disconnected (HUB-07). */
  maxUnsentBytes: 262_144,
  /** Write timeout of a blocked socket (S42). */
  maxBlockedMs: 5_000,
  /** Bytes of one write: with its framing it fits the 16 KiB cork buffer, so it is one system call. */
  maxWriteBytes: 16_000,
  /** Bytes of a long message in one write. */
  maxPieceBytes: 65_536,
  /** Streams written, checked or ended in one turn of the event loop. */
  writesPerTurn: 64,
  /** Messages read from Redis at once for a replay or a repair. */
  pageMessages: 32,
  /** Pages of one replay; a stream that lives longer than 256 messages is far beyond it. */
  maxPages: 64,
  /** Silence after which a comment is sent (HUB-03). */
  heartbeatMs: 15_000,
  /** Maximum age of a stream, random per stream: reconnects spread out, and half-open connections end. */
  minAgeMs: 600_000,
  maxAgeMs: 1_200_000,
  /** Timeout of the subscription catch-up; the stream is then ended and the client reconnects. */
  catchUpMs: 10_000,
  /** Time a removed seat's stream may take to deliver the removal (HUB-07: ended within 2 s). */
  removalGraceMs: 1_000,
  /** Time between `<kind>.ended` and the end of its streams (HUB-07). */
  endedGraceMs: 10_000,
  /** Interval of the check for heartbeats, expiry and timeouts. */
  tickMs: 500,
  /** Interval at which spectator counts are published and gauges are set. */
  reportMs: 500,
  /** Minimum interval between two reads of a list (HUB-04). */
  listIntervalMs: 1_000,
  /** Streams in one batch of list writes, and the pause between two batches. */
  listBatchSize: 16,
  listPauseMs: 2,
  /** Interval at which an unchanged spectator count is published again to the room's owner (HUB-08). */
  audienceRepeatMs: 20_000,
  /**
   * Reconnect times sent to clients: the default; at the maximum age of a stream; and while draining, random
   * between the last two.
   */
  retryMs: 2_000,
  agedRetryMs: 250,
  minDrainRetryMs: 500,
  maxDrainRetryMs: 5_000,
  /** Retry delay of a failed read or subscription. */
  repeatMs: 250,
};

export type HubLimits = typeof hubLimits;
