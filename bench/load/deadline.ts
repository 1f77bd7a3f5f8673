import { setTimeout as pause } from "node:timers/promises";

/** A wait ended without what it waited for. */
export class DeadlineError extends Error {
  readonly awaited: string;

  constructor(awaited: string, ms: number) {
    super(`${awaited} did not come within ${ms / 1000} s`);
    this.name = "DeadlineError";
    this.awaited = awaited;
  }
}

/** Waits for `work`, at most `ms` milliseconds; `awaited` names it in the error ("the first question of ABC234"). */
export async function within<T>(ms: number, awaited: string, work: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = pause(ms, undefined, { signal: settled.signal }).then(() => {
    throw new DeadlineError(awaited, ms);
  });
  // Aborted, it rejects after the race is over.
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    settled.abort();
  }
}
