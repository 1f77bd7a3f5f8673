import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  addTo,
  bucketOf,
  longestMs,
  middleOf,
  numBuckets,
  percentilesOf,
  type Histogram,
} from "../../../../server/platform/job-times/histogram.ts";
import { fc } from "../../../support/seed.ts";

const histogramOf = (durations: readonly number[]): Histogram => {
  const histogram: Histogram = new Map();
  for (const ms of durations) addTo(histogram, bucketOf(ms));
  return histogram;
};
/** By the nearest rank. */
const exact = (durations: readonly number[], share: number) =>
  durations.toSorted((a, b) => a - b)[Math.ceil(share * durations.length) - 1] ?? assert.fail();

describe("the histogram of durations", () => {
  it("gives percentiles that differ from the exact ones by at most 10 %", () => {
    // Spread over every order of magnitude, as waits are.
    const duration = fc.double({ min: 0, max: Math.log(longestMs), noNaN: true }).map(Math.exp);
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 300 }), (durations) => {
        const found = percentilesOf(histogramOf(durations));
        assert.ok(found);
        for (const [share, value] of [
          [0.5, found.p50],
          [0.95, found.p95],
          [0.99, found.p99],
        ] as const) {
          const right = exact(durations, share);
          // Percentiles are whole milliseconds.
          assert.ok(Math.abs(value - right) <= 0.1 * right + 0.5, `${value} for ${right}`);
        }
      }),
    );
  });

  it("has a bucket for every duration, whatever its size", () => {
    assert.deepEqual([0, 0.9, 1].map(bucketOf), [0, 0, 1]);
    for (const ms of [longestMs, 10 * longestMs, Infinity])
      assert.equal(bucketOf(ms), numBuckets - 1);
    assert.ok(middleOf(numBuckets - 1) >= 0.9 * longestMs);
  });

  it("knows no percentile of nothing", () => {
    assert.equal(percentilesOf(new Map()), null);
  });
});
