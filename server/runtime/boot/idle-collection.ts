import { performance } from "node:perf_hooks";

/** By the first look a process has done what it does only once. */
const pollMs = 10_000;
/** Share of its time in which an idle process is at work. */
const idleShare = 0.05;

/**
 * Collects the garbage of a start once, as soon as the process is idle: the engine collects by what is allocated, so
 * what a start leaves behind would stay for as long as nobody plays. A usual collection keeps most of the pages.
 */
export function collectOnceIdle(gc = globalThis.gc): void {
  if (gc === undefined) return;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > idleShare) return;
    clearInterval(timer);
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
  }, pollMs);
  timer.unref();
}
