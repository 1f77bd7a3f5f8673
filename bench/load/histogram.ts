import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from "hdr-histogram-js";

/** Longest recorded time: 10 minutes; longer ones count as this. */
const longestMicros = 600_000_000;

/** A percentile is reported when at least this many samples lie beyond it. */
const samplesBeyond = 10;
/** The fewest samples of which the percentile is reported. */
export const samplesFor = (percent: number): number =>
  Math.round((samplesBeyond * 100) / (100 - percent));

/** Percentiles of a summary; a null one has too few samples beyond it. */
export const reportedPercentiles = [50, 90, 95, 99, 99.9, 99.99] as const;

export interface Summary {
  count: number;
  meanMs: number;
  maxMs: number;
  /** "50" to "99.99" -> milliseconds. */
  percentiles: Record<string, number | null>;
}

/** A percentile, or with too few samples beyond it the longest time, which is no less. */
export const percentileOrMax = (
  { percentiles, maxMs }: Summary,
  percent: (typeof reportedPercentiles)[number],
): number => percentiles[String(percent)] ?? maxMs;

/** Times in an HDR histogram of microseconds with three significant digits; stored as text, and mergeable. */
export class Times {
  readonly #histogram: Histogram;

  constructor(histogram?: Histogram) {
    this.#histogram =
      histogram ??
      build({
        lowestDiscernibleValue: 1,
        highestTrackableValue: 2,
        numberOfSignificantValueDigits: 3,
        bitBucketSize: 32,
        autoResize: true,
        useWebAssembly: false,
      });
  }

  /** From `encode`, in the V2 format of HdrHistogram that its other ports read too. */
  static decode(text: string): Times {
    return new Times(decodeFromCompressedBase64(text, 32, false));
  }

  static merge(texts: Iterable<string>): Times {
    const all = new Times();
    for (const text of texts) all.add(Times.decode(text));
    return all;
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  record(ms: number): void {
    this.#histogram.recordValue(Math.min(longestMicros, Math.max(1, Math.round(ms * 1000))));
  }

  add(other: Times): void {
    this.#histogram.add(other.#histogram);
  }

  encode(): string {
    return encodeIntoCompressedBase64(this.#histogram);
  }

  /** In milliseconds; null with fewer than `samplesBeyond` samples above it. */
  percentile(percent: number): number | null {
    // Without the rounding, 1,000 samples would have 9.999 beyond p99.
    const beyond = Math.round((this.count * (100 - percent)) / 1e-4) / 1e6;
    if (beyond < samplesBeyond) return null;
    return this.#histogram.getValueAtPercentile(percent) / 1000;
  }

  summary(): Summary {
    const { count } = this;
    return {
      count,
      meanMs: count === 0 ? 0 : this.#histogram.mean / 1000,
      maxMs: count === 0 ? 0 : this.#histogram.maxValue / 1000,
      percentiles: Object.fromEntries(
        reportedPercentiles.map((percent) => [String(percent), this.percentile(percent)]),
      ),
    };
  }
}
