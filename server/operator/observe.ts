import type { Metrics } from "../platform/metrics/metrics.ts";
import type { ProcessInfo } from "../runtime/ipc.ts";
import type { QueueBody } from "./schemas.ts";
import type { StoreStates } from "./stores.ts";

/** What one looks up when somebody asks for the metrics; each answers within a bounded time. */
export interface Observed {
  stores(): Promise<StoreStates>;
  /** Null while their store does not answer. */
  queues(): Promise<QueueBody[] | null>;
  processes(): Promise<ProcessInfo[]>;
}

/** Jobs that are done are counted by `jobs_total`, as long as anybody wants to know. */
const done = "completed";

/** Sets the metrics that no process has by itself; what cannot be known has none. */
export async function observe(metrics: Metrics, observed: Observed): Promise<void> {
  const [stores, queues, processes] = await Promise.all([
    observed.stores(),
    observed.queues(),
    observed.processes(),
  ]);
  for (const [store, state] of Object.entries(stores))
    metrics.storeUp.set({ store }, state === "ok" ? 1 : 0);
  metrics.queueJobs.reset();
  for (const { name, counts } of queues ?? [])
    for (const [state, count] of Object.entries(counts))
      if (state !== done) metrics.queueJobs.set({ queue: name, state }, count);
  metrics.processRestarts.reset();
  for (const { role, restarts } of processes) metrics.processRestarts.inc({ role }, restarts);
}
