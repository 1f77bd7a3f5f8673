import { withPlayer } from "../../platform/origin.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { QuestionDeps } from "./deps.ts";

/**
 * Generation quota per player: each call may cost money (TRV-03), and the daily budget is shared. Beyond the quota
 * only stored questions are drawn.
 */
const limits = {
  draws: { max: 30, seconds: 60 },
  batches: { max: 60, seconds: 86_400 },
} as const;

/** Counts one generation; false when the quota is exceeded. */
export async function mayMake(
  deps: QuestionDeps,
  what: keyof typeof limits,
  playerId: number,
): Promise<boolean> {
  if (deps.config.RATE_LIMIT_FACTOR === 0) return true;
  const { max, seconds } = limits[what];
  const key = `${what}-made:${playerId}`;
  try {
    const [count] = (await deps.redis.multi().incr(key).expire(key, seconds, "NX").exec()) ?? [];
    return Number(count?.[1] ?? 0) <= max * deps.config.RATE_LIMIT_FACTOR;
  } catch (error) {
    // Without Redis no job could be added either.
    deps.log.warn(
      { event: "question_quota_failed", err: error },
      "generated questions not counted, none are generated",
    );
    recordDegraded(deps, "question-quota", error, withPlayer(deps.origin, playerId));
    return false;
  }
}
