/** Numbers from 0 to below 1 (Mulberry32): the same seed gives the same ones. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Integers from 0 to below the argument. */
export function randomBelow(seed: number): (below: number) => number {
  const next = createRandom(seed);
  return (below) => Math.floor(next() * below);
}

/** Choices that a seed repeats. */
export interface Choices {
  /** True with probability `p`. */
  is(p: number): boolean;
  /** Integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  within(range: readonly [low: number, high: number]): number;
  pick<T>(list: readonly T[]): T;
}

export function createChoices(seed: number): Choices {
  // Mixes the seed, so that neighbouring seeds do not start alike.
  const next = createRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b));
  return {
    is: (p) => next() < p,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    within: ([low, high]) => low + Math.floor(next() * (high - low + 1)),
    pick(list) {
      const one = list[Math.floor(next() * list.length)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
  };
}
