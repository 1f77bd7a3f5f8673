import { setImmediate as nextTurn } from "node:timers/promises";

/** Processes a bounded batch in each turn of the event loop, so that requests are not delayed. */
export async function forEachInBatches<T>(
  all: Iterable<T>,
  perTurn: number,
  work: (one: T) => void,
  pause: () => Promise<void> = nextTurn,
): Promise<void> {
  let done = 0;
  for (const one of all) {
    work(one);
    done += 1;
    if (done % perTurn === 0) await pause();
  }
}
