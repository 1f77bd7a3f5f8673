/** The only source of "now" for rules; tests hand in a clock they turn by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

let second = Number.NaN;
let text = "";

/** ISO 8601 in UTC as the wire has it: `2026-01-31T12:00:00+00:00` (document 1, Field conventions). */
export function timestamp(ms: number): string {
  const asked = Math.floor(ms / 1000);
  // Each answer of a second has the same: 1.2 us of the 16 us of a short GET (`npm run bench -- http`, profiled).
  if (asked !== second) text = `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
  second = asked;
  return text;
}
