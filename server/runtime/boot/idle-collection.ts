import { performance } from "node:perf_hooks";

/** By the first check a process has finished its one-time work. */
const pollMs = 10_000;
/** Maximum CPU share of an idle process. */
const idleShare = 0.05;

/**
 * Collects the garbage of a start once, as soon as the process is idle. The engine schedules collections by
 * allocations, so the memory of a start would otherwise stay until players arrive. An ordinary collection
 * would keep most of the pages.
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
