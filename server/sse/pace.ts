/** What flushes tell of the pressure on the process, in milliseconds. */
export interface Pressure {
  /** Time spent on urgent messages beyond their share of all time. */
  debtMs: number;
  /** Time between the wish to write and the turn of the event loop that did, on average. */
  lagMs: number;
}

/** Part of the time that writing urgent messages takes before it waits for more of them. */
const writeShare = 1 / 2;
/** The same of all others, which nobody waits for. */
const bulkShare = 1 / 4;
/** Debt that is no pressure yet: what comes now and then goes out at once. */
const burstMs = 5;
/** A turn of a process that is not busy comes sooner. */
const usualLagMs = 5;

/** Debt after a flush of `costMs`, `elapsedMs` after the one before; more than the longest pause is forgiven. */
export function debtAfter(
  debtMs: number,
  { costMs, elapsedMs }: { costMs: number; elapsedMs: number },
  maxMs: number,
): number {
  const owed = Math.max(0, debtMs + costMs - elapsedMs * writeShare);
  return Math.min(burstMs + maxMs * writeShare, owed);
}

/**
 * Time until the next flush, so that what comes meanwhile is written together: none while writing takes
 * less than its share, then the more the longer flushes took and the later their turns came, at most `maxMs`.
 */
export function coalesceMs({ debtMs, lagMs }: Pressure, maxMs: number): number {
  const wantedMs = Math.max(0, debtMs - burstMs) / writeShare + Math.max(0, lagMs - usualLagMs);
  return wantedMs < 1 ? 0 : Math.min(maxMs, wantedMs);
}

/** Time after a slice of a broadcast that the process has for everything else: nobody waits for the next one. */
export const restAfterSlice = (costMs: number): number => costMs / bulkShare - costMs;
