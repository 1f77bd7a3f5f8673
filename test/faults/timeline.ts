import type { Timing } from "../../actors/timing.ts";

/** The process of an action: in a dead process it never happens, in a frozen one it waits. */
export interface Place {
  readonly name: string;
  isAlive: boolean;
  frozenUntil: number;
}

interface Entry {
  at: number;
  order: number;
  place: Place | null;
  run: (() => void) | null;
}

/** Future actions by virtual time; equal times keep their order of insertion. */
export class Timeline {
  now = 1;
  #order = 0;
  readonly #heap: Entry[] = [];

  add(at: number, place: Place | null, run: () => void): () => void {
    const entry: Entry = { at, order: this.#order++, place, run };
    this.#push(entry);
    return () => {
      entry.run = null;
    };
  }

  /** Runs the next action; false if there is none up to `end`. */
  step(end: number): boolean {
    for (;;) {
      const entry = this.#heap[0];
      if (!entry || entry.at > end) return false;
      this.#pop();
      const { place, run } = entry;
      if (!run || (place && !place.isAlive)) continue;
      if (place && place.frozenUntil > entry.at) {
        this.#push({ at: place.frozenUntil, order: this.#order++, place, run });
        continue;
      }
      this.now = Math.max(this.now, entry.at);
      run();
      return true;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, entry)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      let below = heap[child];
      if (!below) break;
      const right = heap[child + 1];
      if (right && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (isBefore(last, below)) break;
      heap[i] = below;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** The timers of one process on the timeline. */
export function timingOf(timeline: Timeline, place: Place): Timing {
  return {
    elapsed: () => timeline.now,
    after: (ms, work) => timeline.add(timeline.now + ms, place, work),
    every(ms, work) {
      let cancel = () => {};
      const again = () => {
        cancel = timeline.add(timeline.now + ms, place, () => {
          again();
          work();
        });
      };
      again();
      return () => cancel();
    },
    soon: (work) => void timeline.add(timeline.now, place, work),
  };
}
