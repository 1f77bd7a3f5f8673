import type { Timing } from "./timing.ts";

/** Fires deadlines: codes in buckets of time, swept together, so that a lobby costs one map entry. */
export interface Ticker {
  /** Replaces the deadline of a lobby; null removes it. */
  arm(code: string, due: number | null): void;
  stop(): void;
}

const bucketMs = 100;

export function createTicker(
  now: () => number,
  timing: Timing,
  fire: (code: string) => void,
): Ticker {
  const buckets = new Map<number, Set<string>>();
  const bucketOf = new Map<string, number>();
  let sweptTo = Math.floor(now() / bucketMs);

  function remove(code: string): void {
    const bucket = bucketOf.get(code);
    if (bucket === undefined) return;
    bucketOf.delete(code);
    const codes = buckets.get(bucket);
    codes?.delete(code);
    if (codes?.size === 0) buckets.delete(bucket);
  }

  function sweep(): void {
    const current = Math.floor(now() / bucketMs);
    // A clock that was set back starts over from there; what is due stays in its bucket.
    if (current < sweptTo) sweptTo = current;
    const due =
      current - sweptTo > buckets.size
        ? [...buckets.keys()].filter((bucket) => bucket <= current)
        : Array.from({ length: current - sweptTo + 1 }, (_, i) => sweptTo + i);
    sweptTo = current;
    for (const bucket of due) {
      const codes = buckets.get(bucket);
      if (!codes) continue;
      buckets.delete(bucket);
      for (const code of codes) bucketOf.delete(code);
      for (const code of codes) fire(code);
    }
  }

  const stop = timing.every(bucketMs, sweep);
  return {
    arm(code, due) {
      remove(code);
      if (due === null) return;
      // Rounded up, so that a deadline is past when it fires; never into a bucket already swept.
      const bucket = Math.max(Math.ceil(due / bucketMs), sweptTo);
      bucketOf.set(code, bucket);
      const codes = buckets.get(bucket) ?? new Set();
      codes.add(code);
      buckets.set(bucket, codes);
    },
    stop,
  };
}
