/** What flushes tell of the pressure on the process, in milliseconds. */
export interface Pressure {
  /** Time spent on urgent messages beyond their share of all time. */
  debtMs: number;
  /** Time between the wish to write and the turn of the event loop that did, on average. */
  lagMs: number;
}

/**
 * Part of the time that writing urgent messages takes before it waits for more of them: in a busy process
 * others wait meanwhile, in one that is idle for most of the time nobody does.
 */
const writeShare = 1 / 8;
const leisureShare = 1 / 2;
/** Idle for so much of the time, a process is not busy. */
const leisureFrom = 1 / 2;
/** The same of all others, which nobody waits for. */
const bulkShare = 1 / 4;
/** Debt that is no pressure yet: what comes now and then goes out at once. */
const burstMs = 5;
/** A turn of a process that is not busy comes sooner. */
const usualLagMs = 5;

/** A flush, the time since the one before, and the part of the time in which the process is idle. */
export interface Spent {
  costMs: number;
  elapsedMs: number;
  idleShare: number;
}

/** Debt after a flush; more than the longest pause is forgiven. */
export function debtAfter(
  debtMs: number,
  { costMs, elapsedMs, idleShare }: Spent,
  maxMs: number,
): number {
  const share = idleShare > leisureFrom ? leisureShare : writeShare;
  const owed = Math.max(0, debtMs + costMs - elapsedMs * share);
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

/** Messages that one read is worth, and the longest that they are waited for. */
const messagesPerRead = 6;
const maxReadPauseMs = 6;
/** Fewer in the longest pause are read as they come: nothing is saved, and somebody waits. */
const leastPerPause = 3;
/** Time over which the rate is looked at, so that a burst after silence is read at once. */
const rateOverMs = 100;

/** How long reading from the store waits, so that the process wakes up for several messages at a time. */
export class ReadPace {
  private perMs = 0;
  private count = 0;
  private since: number;

  constructor(now: number) {
    this.since = now;
  }

  heard(): void {
    this.count += 1;
  }

  /** Milliseconds until the next read; `now` is the time of this one. */
  pauseMs(now: number): number {
    const elapsedMs = Math.max(now - this.since, 0.001);
    const weight = Math.min(1, elapsedMs / rateOverMs);
    this.perMs += (this.count / elapsedMs - this.perMs) * weight;
    this.since = now;
    this.count = 0;
    if (this.perMs * maxReadPauseMs < leastPerPause) return 0;
    return Math.min(maxReadPauseMs, messagesPerRead / this.perMs);
  }
}
