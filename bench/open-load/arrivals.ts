/** One command that has to be sent: `atMs` after the start of the run, in the room with this index. */
export interface Arrival {
  atMs: number;
  room: number;
}

/** A small generator of random numbers in [0, 1): the same seed gives the same run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * An open arrival process: exponential gaps (Poisson), each command in a random room. Arrivals do not wait
 * for answers, so a slow server cannot slow the load down.
 */
export function* poissonArrivals(given: {
  perSecond: number;
  seconds: number;
  rooms: number;
  seed: number;
}): Generator<Arrival> {
  const random = seededRandom(given.seed);
  const endMs = given.seconds * 1000;
  let atMs = 0;
  for (;;) {
    atMs += (-Math.log(1 - random()) * 1000) / given.perSecond;
    if (atMs >= endMs) return;
    yield { atMs, room: Math.floor(random() * given.rooms) };
  }
}
