import {
  storeNames,
  type ProbeAnswer,
  type ProbeAnswers,
  type StoreName,
} from "../../platform/probes.ts";

/** An HTTP worker as its primary sees it. */
export interface WorkerSigns {
  /** It has started and does not drain. */
  isReady: boolean;
  /** When it, or its predecessor in the slot, last answered; 0 before the first did. */
  answeredAt: number;
}

/** What the answers of the probes depend on. Times are of one monotonic clock, in milliseconds. */
export interface InstanceSigns {
  now: number;
  isStopping: boolean;
  /** The last worker drains, while another instance takes its rooms. */
  isDraining: boolean;
  workers: readonly WorkerSigns[];
  /** When a worker last reached each store; null before the first time. */
  reachedAt: Readonly<Record<StoreName, number | null>>;
  /** A store may be away for this long; 0 means for ever. */
  storeLimitMs: number;
}

/** A worker answers every two seconds; one that has been silent for longer gets no requests. */
const silentMs = 5_000;
/** Frozen workers are killed and replaced before; if that does not help, a restart of the service may. */
const stalledMs = 15_000;

const pass = (word: string): ProbeAnswer => ({ status: 200, word });
const fail = (word: string): ProbeAnswer => ({ status: 503, word });

/** The answers to `/live` and `/ready` (BOOT-11). */
export const probeAnswers = (signs: InstanceSigns): ProbeAnswers => ({
  live: isStalled(signs) ? fail("stalled") : pass("live"),
  ready: readiness(signs),
});

/** A start and a stop have limits of their own, and no restart makes them faster. */
function isStalled({ now, isStopping, workers }: InstanceSigns): boolean {
  const answeredAt = Math.max(0, ...workers.map((worker) => worker.answeredAt));
  return !isStopping && answeredAt > 0 && now - answeredAt >= stalledMs;
}

function readiness(signs: InstanceSigns): ProbeAnswer {
  const { now, isStopping, isDraining, workers, reachedAt, storeLimitMs } = signs;
  if (isStopping) return fail("stopping");
  if (isDraining) return fail("draining");
  if (workers.every(({ answeredAt }) => answeredAt === 0)) return fail("starting");
  if (!workers.some(({ isReady, answeredAt }) => isReady && now - answeredAt < silentMs))
    return fail("no-worker");
  for (const store of storeNames) {
    const at = reachedAt[store];
    if (at === null) return fail("starting");
    if (storeLimitMs > 0 && now - at >= storeLimitMs) return fail(`no-${store}`);
  }
  return pass("ready");
}
