import type { Metrics } from "./metrics.ts";
import { lagHistogram } from "./event-loop-lag.ts";

/** The load of this process. */
export interface ProcessLoad {
  memoryBytes: number;
  /** Mean lag of its event loop since the load was last read; null if it is not known. */
  loopLagMs: number | null;
}

/** Reads the load again and again. It takes nothing from the gauges, which are reset by each scrape. */
export function loadReader({ registry }: Pick<Metrics, "registry">): () => Promise<ProcessLoad> {
  let before = { sum: 0, count: 0 };
  return async () => {
    const now = await totalLag(registry);
    const count = now.count - before.count;
    const seconds = (now.sum - before.sum) / count;
    before = now;
    const loopLagMs = count > 0 ? Math.round(seconds * 1_000) : null;
    return { memoryBytes: process.memoryUsage.rss(), loopLagMs };
  };
}

async function totalLag(registry: Metrics["registry"]): Promise<{ sum: number; count: number }> {
  const values = (await registry.getSingleMetric(lagHistogram)?.get())?.values ?? [];
  const valueOf = (part: string) =>
    values.find((one) => "metricName" in one && one.metricName === `${lagHistogram}_${part}`)
      ?.value ?? 0;
  return { sum: valueOf("sum"), count: valueOf("count") };
}
