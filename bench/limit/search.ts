/** One try of a rate: whether the target held it. */
export interface Try<T> {
  rate: number;
  isHeld: boolean;
  result: T;
}

export interface Found<T> {
  /** The highest rate that held; null: none did. */
  held: Try<T> | null;
  /** The lowest rate that broke; null: none did. */
  broken: Try<T> | null;
}

/** The search ends when both rates differ by at most this share. */
const enough = 0.1;
const maxTries = 12;

/**
 * The limit between two rates: doubles from `start` until one breaks (or halves until one holds), then bisects. `attempt`
 * resolves to null to end the search.
 */
export async function searchLimit<T>(
  start: number,
  attempt: (rate: number) => Promise<Try<T> | null>,
): Promise<Found<T>> {
  const found: Found<T> = { held: null, broken: null };
  for (let n = 0, rate: number | null = start; n < maxTries && rate !== null; n++) {
    const tried = await attempt(rate);
    if (!tried) break;
    if (tried.isHeld) found.held = tried;
    else found.broken = tried;
    rate = nextRate(found);
  }
  return found;
}

function nextRate({ held, broken }: Found<unknown>): number | null {
  if (!broken) return held ? held.rate * 2 : null;
  if (!held) return broken.rate / 2;
  return broken.rate / held.rate <= 1 + enough ? null : (held.rate + broken.rate) / 2;
}
