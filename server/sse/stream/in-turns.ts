import { setImmediate as nextTurn } from "node:timers/promises";

/** Does the work for a bounded number in each turn of the event loop, so that requests are not held up. */
export async function inTurns<T>(
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
