import type { AnyKind } from "./kind.ts";
import type { BaseState } from "./rules.ts";

/** A job without retries in the rules is retried after this share of the time it has waited. */
const retryShare = 1 / 8;
const minRetryMs = 500;
const maxRetryMs = 30_000;

/** Next retry of a pending job; null without one, or if only deadlines of the rules retry it. */
export function nextRetry(jobs: AnyKind["jobs"], state: BaseState, now: number): number | null {
  let next: number | null = null;
  for (const name in jobs) {
    const job = jobs[name];
    if (!job?.pendingSince || !job.isPending(state)) continue;
    const waited = (now - job.pendingSince(state)) * retryShare;
    const at = now + Math.min(maxRetryMs, Math.max(minRetryMs, waited));
    next = next === null ? at : Math.min(next, at);
  }
  return next;
}
