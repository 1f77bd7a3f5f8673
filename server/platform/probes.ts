/** The answer of a probe: a status and one word (BOOT-11). */
export interface ProbeAnswer {
  status: 200 | 503;
  word: string;
}

/** What the primary answers to a balancer or an orchestrator. */
export interface ProbeAnswers {
  /** 503: restarting the service may help. */
  live: ProbeAnswer;
  /** 503: send requests to another instance. */
  ready: ProbeAnswer;
}

/** Before the first worker serves. */
export const startingProbes: ProbeAnswers = {
  live: { status: 200, word: "live" },
  ready: { status: 503, word: "starting" },
};

export const storeNames = ["postgres", "redis"] as const;
export type StoreName = (typeof storeNames)[number];

/** Milliseconds since each store last answered a process; null if it never did. */
export type StoreAges = Record<StoreName, number | null>;

/** A store that has not answered for this long is away. A worker checks both every two seconds. */
export const awayAfterMs = 5_000;

/** When a store that is away last answered, in milliseconds since 1970; null while it answers, or if that is unknown. */
export type AwaySince = Record<StoreName, number | null>;
