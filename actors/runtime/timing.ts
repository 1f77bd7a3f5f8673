import { performance } from "node:perf_hooks";

/** Ends a timer. */
export type Cancel = () => void;

/** Timers of the runtime and the time they go by; the simulation turns it by hand. */
export interface Timing {
  /** Milliseconds since some start; no change of the wall clock moves it. */
  elapsed(): number;
  after(ms: number, work: () => void): Cancel;
  every(ms: number, work: () => void): Cancel;
  /** Once what is ready now has had its turn: work of the same turn goes together. */
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
    // The connections keep a process alive for as long as it has lobbies.
    timer.unref();
    return () => clearInterval(timer);
  },
  soon: (work) => void setImmediate(work),
};
