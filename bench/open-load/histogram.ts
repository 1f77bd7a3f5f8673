import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** Latencies in milliseconds; p50, p99 and p999 are read from an HDR histogram of microseconds. */
export interface LatencySummary {
  count: number;
  p50Ms: number;
  p99Ms: number;
  p999Ms: number;
  maxMs: number;
}

/** Longer latencies are clamped to this: 10 minutes. */
const highestMicros = 600_000_000;

/** An HDR histogram with three significant digits, from 1 us to 10 minutes. */
export class LatencyHistogram {
  readonly #histogram: RecordableHistogram = createHistogram({
    lowest: 1,
    highest: highestMicros,
    figures: 3,
  });

  record(ms: number): void {
    this.#histogram.record(Math.min(highestMicros, Math.max(1, Math.round(ms * 1000))));
  }

  summary(): LatencySummary {
    const histogram = this.#histogram;
    const at = (percent: number) => histogram.percentile(percent) / 1000;
    return {
      count: histogram.count,
      p50Ms: at(50),
      p99Ms: at(99),
      p999Ms: at(99.9),
      maxMs: histogram.count === 0 ? 0 : histogram.max / 1000,
    };
  }
}
