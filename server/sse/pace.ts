/** What a flush tells of the pressure on the process, in milliseconds. */
export interface Pressure {
  /** Time the flush took for urgent messages. */
  costMs: number;
  /** Time between the wish to write and the turn of the event loop that did, on average. */
  lagMs: number;
}

/** Writing takes at most a quarter of the time. */
const restFactor = 3;
/** A turn of a process that is not busy comes sooner. */
const usualLagMs = 5;

/**
 * Time until the next flush, so that what comes meanwhile is written together: none on an idle
 * process, the more the longer a flush took and the later its turn came, at most `maxMs`.
 */
export function coalesceMs({ costMs, lagMs }: Pressure, maxMs: number): number {
  const wantedMs = costMs * restFactor + Math.max(0, lagMs - usualLagMs);
  return wantedMs < 1 ? 0 : Math.min(maxMs, wantedMs);
}
