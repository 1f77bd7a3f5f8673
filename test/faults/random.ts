/** Reproducible randomness: the same seed gives the same numbers. */
export interface Random {
  /** True with probability `p`. */
  is(p: number): boolean;
  /** Integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  within(range: readonly [low: number, high: number]): number;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32: small, fast and random enough for choices. */
export function createRandom(seed: number): Random {
  // Mixes the seed, so that neighbouring seeds do not start alike.
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
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
