import type { Clock } from "../../server/platform/time/clock.ts";

/** A clock that only moves when set. */
export function manualClock(startMs = Date.now()): Clock & { advance(ms: number): void } {
  let now = startMs;
  return { now: () => now, advance: (ms) => (now += ms) };
}
