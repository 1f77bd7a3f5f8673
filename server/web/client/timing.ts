import type { Clock } from "./options.ts";

/** Browsers treat a longer delay as zero. */
const maxTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, maxTimerMs));
      signal?.addEventListener("abort", done);
      if (signal?.aborted) done();
    }),
};

/** The caller's functions, called without the object that holds them. */
export function clockOf({ now, elapsed, random, sleep }: Clock): Clock {
  return {
    now: () => now(),
    elapsed: () => elapsed(),
    random: () => random(),
    sleep: (ms, signal) => sleep(ms, signal),
  };
}

/** First and longest delay between two attempts, before jitter removes up to half of it. */
export const firstPauseMs = 250;
export const maxPauseMs = 15_000;

/**
 * Delay after the attempt with this number (from 0): doubles from `firstMs`; jitter removes up to half. A
 * delay requested by the service is a lower bound, plus jitter, so that clients do not return at the same
 * time.
 */
export function pauseAfter(
  attempt: number,
  random: number,
  retryAfterMs: number | null = null,
  firstMs: number = firstPauseMs,
): number {
  const ceiling = Math.min(maxPauseMs, firstMs * 2 ** Math.min(attempt, 16));
  const ownMs = ceiling * (0.5 + random / 2);
  return retryAfterMs === null ? ownMs : Math.max(ownMs, retryAfterMs + random * firstMs);
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
    if (signal.aborted) resolve();
  });
}

/** A controller that is also aborted by `signal`, until `unlink`. */
export function linked(signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return { controller, unlink: () => signal?.removeEventListener("abort", stop) };
}
