import { createRandom } from "../../test/survival/random.ts";

/** A command to send: `atMs` after the start of the run, in the room with this index. */
export interface Arrival {
  atMs: number;
  room: number;
}

/**
 * An open arrival process: exponential gaps (Poisson), each command in a random room. Arrivals do not wait
 * for responses, so a slow server cannot slow the load down.
 */
export function* poissonArrivals(given: {
  perSecond: number;
  seconds: number;
  rooms: number;
  seed: number;
}): Generator<Arrival> {
  const random = createRandom(given.seed);
  const endMs = given.seconds * 1000;
  let atMs = 0;
  for (;;) {
    atMs += (-Math.log(1 - random()) * 1000) / given.perSecond;
    if (atMs >= endMs) return;
    yield { atMs, room: Math.floor(random() * given.rooms) };
  }
}
