import type { Clock } from "../server/platform/time/clock.ts";
import type { Cancel, Timing } from "./timing.ts";

/** Fires the deadlines of rooms, by the wall clock, which may jump. */
export interface Ticker {
  /** Sets the deadline of a room. */
  arm(code: string, due: number): void;
  stop(): void;
}

const sweepMs = 100;
/** Until a room is ticked again after a failure of the store. */
export const retryMs = 500;

export function createTicker(clock: Clock, timing: Timing, fire: (code: string) => void): Ticker {
  const armed = new Map<string, number>();
  /** Stopped while no deadline is armed, so that an idle process is not woken. */
  let stopSweeps: Cancel | null = null;
  let isStopped = false;

  function pause(): void {
    stopSweeps?.();
    stopSweeps = null;
  }

  function sweep(): void {
    const now = clock.now();
    const due: string[] = [];
    for (const [code, at] of armed) if (at <= now) due.push(code);
    for (const code of due) armed.delete(code);
    if (armed.size === 0) pause();
    for (const code of due) fire(code);
  }

  return {
    arm(code, due) {
      armed.set(code, due);
      if (!isStopped) stopSweeps ??= timing.every(sweepMs, sweep);
    },
    stop() {
      isStopped = true;
      pause();
    },
  };
}
