import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

export type MetricsOfProcess = MetricObjectWithValues<MetricValue<string>>[];

/** What one process answers when it is asked for its metrics. */
export interface MetricsReport {
  pid: number;
  metrics: MetricsOfProcess;
}

/**
 * Adds what silent and ended processes had counted to the present reports. A sum that falls is a restart of all to
 * whoever takes rates of it, and what is left of it then counts as new.
 */
export interface Counts {
  /** `pids` of the processes there are; none when that is not known. */
  complete(reports: readonly MetricsReport[], pids: readonly number[]): Promise<MetricsOfProcess[]>;
}

export function createCounts(): Counts {
  /** Of processes that may report again. */
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
