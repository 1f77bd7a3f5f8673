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

/** Times of ownership and waiting, in milliseconds: heartbeats are per process, fencing per shard. */
export interface RoomTimings {
  heartbeatMs: number;
  /** Time without a heartbeat after which the others count a node as dead. */
  deadMs: number;
  /** Maximum age of the last heartbeat for serving reads without asking Redis. */
  freshMs: number;
  reloadMs: number;
  /** How long a command waits for an owner of its room (LOB-27). */
  timeoutMs: number;
  /** After this time a waiting command reads the owner map, and asks an unchanged owner again. */
  retryMs: number;
}

export const defaultTimings: RoomTimings = {
  heartbeatMs: 500,
  deadMs: 2_000,
  freshMs: 1_500,
  reloadMs: 5_000,
  timeoutMs: 5_000,
  retryMs: 20,
};

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
