import { createRandom } from "../../test/support/random.ts";

export const faultKinds = [
  "kill-worker",
  "freeze-worker",
  "drain-worker",
  "restart-redis",
  "restart-postgres",
  "cut-streams",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface PlannedFault {
  kind: FaultKind;
  /** Milliseconds since the start of the load. */
  atMs: number;
}

/** A freeze, the longest fault, and the recovery from it need this much of the load at its end. */
const tailMs = 5_000;
const killEveryMs = 3_000;

/**
 * Each of the kinds once, in an order and at times that the seed chooses: one in each of as many equal parts of the
 * load, whose last seconds stay free for the recovery.
 */
export function planFaults(
  kinds: readonly FaultKind[],
  seconds: number,
  seed: number,
): PlannedFault[] {
  const random = createRandom(seed);
  const shuffled = kinds.map((kind) => ({ kind, key: random() })).toSorted((a, b) => a.key - b.key);
  const partMs = Math.max(seconds * 500, seconds * 1000 - tailMs) / kinds.length;
  return shuffled.map(({ kind }, part) => ({ kind, atMs: (part + random()) * partMs }));
}

/** Kills a worker every three seconds, freezes one at a third of the time, and restarts Redis at three quarters. */
export function planSurvival(seconds: number): PlannedFault[] {
  const count = Math.floor((seconds * 1000) / killEveryMs);
  const times = Array.from({ length: count }, (_, n) => (n + 1) * killEveryMs);
  const freezeAt = times.find((at) => at >= Math.floor(seconds / 3) * 1000);
  const restartAt = times.find(
    (at) => at >= Math.floor((seconds * 3) / 4) * 1000 && at !== freezeAt,
  );
  const kindAt = (at: number): FaultKind => {
    if (at === freezeAt) return "freeze-worker";
    return at === restartAt ? "restart-redis" : "kill-worker";
  };
  return times.map((atMs) => ({ kind: kindAt(atMs), atMs }));
}
