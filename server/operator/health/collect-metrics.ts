import type { Metrics } from "../../platform/metrics/metrics.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { QueueBody } from "../schemas.ts";
import type { StoreStates } from "./stores.ts";

/** Sources read for each scrape; each responds within a bounded time. */
export interface MetricsInput {
  stores(): Promise<StoreStates>;
  /** Null if their store does not respond. */
  queues(): Promise<QueueBody[] | null>;
  processes(): Promise<ProcessInfo[]>;
}

/** `emberline_jobs_total` counts completed jobs, so the gauge leaves them out. */
const done = "completed";

/** Sets the metrics of the service as a whole; if a source is unavailable, its metric is omitted. */
export async function collectMetrics(metrics: Metrics, observed: MetricsInput): Promise<void> {
  const [stores, queues, processes] = await Promise.all([
    observed.stores(),
    observed.queues(),
    observed.processes(),
  ]);
  for (const [store, state] of Object.entries(stores))
    metrics.storeUp.set({ store }, state === "ok" ? 1 : 0);
  metrics.queueJobs.reset();
  metrics.queueOldestSeconds.reset();
  for (const { name: queue, counts, oldest_waiting_seconds } of queues ?? []) {
    for (const [state, count] of Object.entries(counts))
      if (state !== done) metrics.queueJobs.set({ queue, state }, count);
    metrics.queueOldestSeconds.set({ queue }, oldest_waiting_seconds ?? 0);
  }
  metrics.processRestarts.reset();
  for (const { role, restarts } of processes)
    metrics.processRestarts.inc({ role: role === "jobs" ? "job" : role }, restarts);
}
