/**
 * Each bucket ends at this multiple of its start. A value is read as the middle of its bucket, which differs from it by
 * at most the square root: 10 %.
 */
export const growth = 1.21;
/** A longer duration counts as this long: a day. */
export const longestMs = 86_400_000;

/** Bucket of a duration in milliseconds; the first one holds those below a millisecond. */
export const bucketOf = (ms: number): number =>
  ms < 1 ? 0 : 1 + Math.floor(Math.log(Math.min(ms, longestMs)) / Math.log(growth));

export const numBuckets = bucketOf(longestMs) + 1;

/** Middle of a bucket on the logarithmic scale, in milliseconds. */
export const middleOf = (bucket: number): number => (bucket === 0 ? 0 : growth ** (bucket - 0.5));

/** Number of durations by bucket. */
export type Histogram = Map<number, number>;

export function addTo(histogram: Histogram, bucket: number, count = 1): void {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
}

/** The first bucket and the counts from it to the last one, which take less room than pairs; empty without any. */
export function countsOf(histogram: Histogram): number[] {
  if (histogram.size === 0) return [];
  const [first, last] = [Math.min(...histogram.keys()), Math.max(...histogram.keys())];
  const length = last - first + 1;
  return [first, ...Array.from({ length }, (_, at) => histogram.get(first + at) ?? 0)];
}

/** Adds what `countsOf` returned. */
export function addCounts(histogram: Histogram, [first = 0, ...counts]: readonly number[]): void {
  for (const [at, count] of counts.entries()) if (count > 0) addTo(histogram, first + at, count);
}

/** Milliseconds that this share of the durations did not exceed, with an error of at most 10 %. */
export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Null without a duration. */
export function percentilesOf(histogram: Histogram): Percentiles | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const buckets = [...histogram].toSorted(([a], [b]) => a - b);
  const percentile = (share: number) => {
    const rank = Math.ceil(share * total);
    let below = 0;
    const found = buckets.find(([, count]) => (below += count) >= rank);
    return Math.round(middleOf(found?.[0] ?? 0));
  };
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}
