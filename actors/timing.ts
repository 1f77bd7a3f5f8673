import { performance } from "node:perf_hooks";

/** Cancels a timer. */
export type Cancel = () => void;

/** Timers of the runtime and their clock; the simulation advances it manually. */
export interface Timing {
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  after(ms: number, work: () => void): Cancel;
  every(ms: number, work: () => void): Cancel;
  /** Runs after the callbacks that are ready now, so that work of one turn is batched. */
  soon(work: () => void): void;
}

export const systemTiming: Timing = {
  elapsed: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  every(ms, work) {
    const timer = setInterval(work, ms);
    // The connections keep a process alive as long as it has actors.
    timer.unref();
    return () => clearInterval(timer);
  },
  soon: (work) => void setImmediate(work),
};
