import type { MetricsReport } from "../health/counts.ts";

/** What a process reports about itself; null: it did not answer. */
export interface ProcessLoad {
  memoryBytes: number | null;
  /** Mean lag of its event loop since its last report. */
  loopLagMs: number | null;
}

/** The load of each process by its pid, from its default metrics. */
export function loadsOf(reports: readonly MetricsReport[]): Map<number, ProcessLoad> {
  return new Map(
    reports.map(({ pid, metrics }) => {
      const valueOf = (wanted: string): number | null =>
        metrics.find(({ name }) => name === wanted)?.values[0]?.value ?? null;
      const lagSeconds = valueOf("nodejs_eventloop_lag_mean_seconds");
      const isKnown = lagSeconds !== null && Number.isFinite(lagSeconds);
      const loopLagMs = isKnown ? Math.round(lagSeconds * 1_000) : null;
      return [pid, { memoryBytes: valueOf("process_resident_memory_bytes"), loopLagMs }];
    }),
  );
}
