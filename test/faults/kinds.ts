import type { RoomTimings } from "../../actors/timing.ts";

type Range = readonly [low: number, high: number];

/** Size and time scale of a schedule; times in milliseconds. */
export interface Kind {
  readonly name: "small" | "large" | "wide";
  readonly workers: readonly number[];
  /** Probability of a second lobby. */
  readonly secondLobby: number;
  /** Shards without a lobby, which are handed over in batches with the others. */
  readonly emptyShards: number;
  /** Clients of a running lobby, and commands of each. */
  readonly clients: readonly number[];
  readonly commands: Range;
  readonly thinkMs: Range;
  /** One time in five. */
  readonly longThinkMs: Range;
  /** How long a client waits for a response before it retries. */
  readonly waitMs: Range;
  readonly againMs: Range;
  /** Probability that a client asks the owner directly. */
  readonly asksOwner: number;
  readonly faults: readonly number[];
  readonly faultless: number;
  /** Probability that messages between workers are lost, duplicated and delayed. */
  readonly messageFaults: number;
  /** Probability of a lobby with many commits since its last snapshot. */
  readonly longOpening: number;
  /** Faults are spread over this many steps, about as many as the clients need. */
  readonly lastStep: number;
  readonly freezeMs: readonly Range[];
  readonly storeDownMs: readonly Range[];
  readonly bornMs: Range;
  /** The initial workers have joined before the first step. */
  readonly joinsBefore: boolean;
  /** Probability that the schedule waits for the deadlines at the end. */
  readonly settles: number;
  /** Shorter than in the service, in the same proportions, so that a schedule reaches them all. */
  readonly timings: Readonly<RoomTimings>;
}

/** Few workers, lobbies, commands and faults find most errors, if they meet in every combination. */
export const small: Kind = {
  name: "small",
  workers: [2, 2, 2, 2, 2, 3],
  secondLobby: 0.07,
  emptyShards: 0,
  clients: [2, 2, 2, 2, 2, 2, 2, 3, 4],
  commands: [2, 3],
  thinkMs: [1, 6],
  longThinkMs: [10, 40],
  waitMs: [100, 700],
  againMs: [1, 20],
  asksOwner: 0.5,
  faults: [1, 1, 1, 2, 3],
  faultless: 0.02,
  messageFaults: 0.15,
  longOpening: 0.05,
  lastStep: 60,
  freezeMs: [
    [5, 200],
    [250, 700],
  ],
  storeDownMs: [
    [1, 40],
    [60, 300],
    [400, 900],
  ],
  bornMs: [30, 300],
  joinsBefore: true,
  settles: 0.02,
  timings: {
    heartbeatMs: 200,
    deadMs: 400,
    freshMs: 300,
    reloadMs: 1_000,
    timeoutMs: 1_500,
    retryMs: 80,
  },
};

export const large: Kind = {
  name: "large",
  workers: [1, 2, 3],
  secondLobby: 0.3,
  emptyShards: 0,
  clients: [2, 3, 4],
  commands: [2, 7],
  thinkMs: [1, 60],
  longThinkMs: [1, 600],
  waitMs: [400, 3_000],
  againMs: [1, 40],
  asksOwner: 0,
  faults: [1, 2, 3, 4],
  faultless: 0.1,
  messageFaults: 0.4,
  longOpening: 0.33,
  lastStep: 250,
  freezeMs: [
    [5, 600],
    [700, 2_500],
  ],
  storeDownMs: [
    [1, 40],
    [60, 1_500],
    [1_000, 2_500],
  ],
  bornMs: [20, 400],
  joinsBefore: false,
  settles: 1,
  timings: {
    heartbeatMs: 250,
    deadMs: 1_000,
    freshMs: 750,
    reloadMs: 2_000,
    timeoutMs: 2_500,
    retryMs: 50,
  },
};

/**
 * Enough shards for several batches, in the proportions of the service: a waiting command outlives a
 * forgotten shard.
 */
export const wide: Kind = {
  ...small,
  name: "wide",
  workers: [2, 3],
  emptyShards: 38,
  faults: [2, 3, 4],
  lastStep: 400,
  commands: [3, 6],
  thinkMs: [1, 60],
  longThinkMs: [10, 300],
  waitMs: [400, 1_500],
  settles: 1,
  timings: {
    heartbeatMs: 100,
    deadMs: 400,
    freshMs: 300,
    reloadMs: 1_000,
    timeoutMs: 1_000,
    retryMs: 20,
  },
};

export const kinds = { small, large, wide };
