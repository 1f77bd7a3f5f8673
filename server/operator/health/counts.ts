import { AggregatorRegistry } from "prom-client";
import type { MetricsOfProcess, MetricsReport } from "../../platform/metrics/report.ts";

/**
 * Adds the last counts of unresponsive and ended processes to the present reports. A falling sum would look
 * like a restart to rate functions, which would count the remaining value again.
 */
export interface Counts {
  /** `pids` of the running processes; empty if unknown. */
  complete(reports: readonly MetricsReport[], pids: readonly number[]): Promise<MetricsOfProcess[]>;
}

export function createCounts(): Counts {
  /** Reports of processes that may respond again. */
  const latest = new Map<number, MetricsOfProcess>();
  let ended: Promise<MetricsOfProcess> = Promise.resolve([]);
  return {
    async complete(reports, pids) {
      const reporting = new Set(reports.map(({ pid }) => pid));
      for (const { pid, metrics } of reports) latest.set(pid, countedOf(metrics));
      const silent = [...latest].filter(([pid]) => !reporting.has(pid));
      const gone = pids.length === 0 ? [] : silent.filter(([pid]) => !pids.includes(pid));
      const others = silent.map(([, counted]) => counted);
      const before = ended;
      for (const [pid, counted] of gone) {
        latest.delete(pid);
        ended = ended.then((sum) => sumOf([sum, counted]));
      }
      return [...reports.map(({ metrics }) => metrics), ...others, await before];
    },
  };
}

const countedTypes = new Set(["counter", "histogram"]);
const countedOf = (metrics: MetricsOfProcess) =>
  metrics.filter(({ type }) => countedTypes.has(String(type)));

const sumOf = (all: MetricsOfProcess[]): Promise<MetricsOfProcess> =>
  AggregatorRegistry.aggregate(all).getMetricsAsJSON();
