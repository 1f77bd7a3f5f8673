/** Every bound and time of the hub; tests shorten the times. */
export const hubLimits = {
  /** Streams of one process; beyond it 503. */
  maxStreams: 50_000,
  /** Streams of one seat, over all processes (HUB-07). */
  maxStreamsPerSeat: 8,
  /** A process is alive to the others so long after its last sign, given this often. */
  leaseMs: 5_000,
  beatMs: 1_000,
  /** Counts in Redis that nobody touched for so long are dropped; no stream lives longer. */
  placeTtlMs: 1_800_000,
  /** Redis is treated as away after this time and not asked again for as long: each process counts alone. */
  placeWaitMs: 500,
  /** What a refused client is told to wait, in seconds. */
  retryAfterSeconds: 10,
  /** Messages a lobby topic keeps in memory, and their bytes; older ones are read from Redis. */
  ringMessages: 256,
  ringBytes: 1_048_576,
  /** Bytes of all rings of the process. */
  allRingBytes: 67_108_864,
  /** Unsent bytes at which a slow reader is closed (HUB-07). */
  maxUnsentBytes: 262_144,
  /** Time in which a reader has to take what it was offered (S42). */
  maxBlockedMs: 5_000,
  /** What one write carries: with its framing it fits the 16 KiB cork buffer, so it is one system call. */
  maxWriteBytes: 16_000,
  /** Bytes of a long message that a socket is offered at a time. */
  maxPieceBytes: 65_536,
  /** Streams written, looked at or ended in one turn of the event loop. */
  writesPerTurn: 64,
  /** Messages read from Redis at once for a replay or a repair. */
  pageMessages: 32,
  /** Pages of one replay; a stream that lives longer than 256 messages is far beyond it. */
  maxPages: 64,
  /** Silence after which a comment is sent (HUB-03). */
  heartbeatMs: 15_000,
  /** Age at which a stream is ended, drawn per stream: clients spread, and vanished ones are found. */
  minAgeMs: 600_000,
  maxAgeMs: 1_200_000,
  /** A stream that could not be started by then is ended; the client returns. */
  joinMs: 10_000,
  /** Time a removed seat's stream may take to deliver the removal (HUB-07: ended within 2 s). */
  removalGraceMs: 1_000,
  /** Time between `lobby.ended` and the end of its streams (HUB-07). */
  endedGraceMs: 10_000,
  /** How late a stream may be looked at when something of it is due. */
  tickMs: 500,
  /** How often owners hear of spectators and the measures of the rings are taken. */
  reportMs: 500,
  /** The public list is read and sent at most once in this time (HUB-04). */
  listIntervalMs: 1_000,
  /** It is written to so many streams, then to as many more after a pause. */
  listWritesAtOnce: 16,
  listPauseMs: 2,
  /** The owner of a lobby hears again how many spectators this process has (HUB-08). */
  audienceRepeatMs: 20_000,
  /**
   * Reconnect times sent to clients: normally; when a stream has grown old, which no two do together; and
   * drawn between the last two when draining.
   */
  retryMs: 2_000,
  agedRetryMs: 250,
  minDrainRetryMs: 500,
  maxDrainRetryMs: 5_000,
  /** A failed read or subscription is repeated after this time. */
  repeatMs: 250,
};

export type HubLimits = typeof hubLimits;
