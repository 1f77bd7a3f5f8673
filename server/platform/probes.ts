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
