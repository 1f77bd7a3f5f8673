import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";

export type MetricsOfProcess = MetricObjectWithValues<MetricValue<string>>[];

/** The reply of one process to a metrics request. */
export interface MetricsReport {
  pid: number;
  metrics: MetricsOfProcess;
}

/** The metrics of this process; with `names` only these, without the labels that all have, and nothing else is sampled. */
export const reportMetrics = async (
  registry: Registry,
  names?: readonly string[],
): Promise<MetricsReport> => ({
  pid: process.pid,
  metrics:
    names === undefined
      ? await registry.getMetricsAsJSON()
      : await Promise.all(names.flatMap((name) => registry.getSingleMetric(name)?.get() ?? [])),
});
