import type { Timing } from "../timing.ts";

/** Fires the deadlines of lobbies, by the wall clock, which may jump. */
export interface Ticker {
  /** Replaces the deadline of a lobby; null removes it. */
  arm(code: string, due: number | null): void;
  stop(): void;
}

const sweepMs = 100;

export function createTicker(
  now: () => number,
  timing: Timing,
  fire: (code: string) => void,
): Ticker {
  const armed = new Map<string, number>();

  function sweep(): void {
    const current = now();
    const due: string[] = [];
    for (const [code, at] of armed) if (at <= current) due.push(code);
    for (const code of due) armed.delete(code);
    for (const code of due) fire(code);
  }

  const stop = timing.every(sweepMs, sweep);
  return {
    arm(code, due) {
      if (due === null) armed.delete(code);
      else armed.set(code, due);
    },
    stop,
  };
}
