import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { timestamp } from "../../../actors/lobby/snapshot.ts";
import { fc } from "../../support/seed.ts";

describe("a time on the wire", () => {
  it("equals the output of Date to the second, whatever was formatted before", () => {
    const far = 8.64e15;
    const near = fc.integer({ min: 1_790_000_000_000, max: 1_790_400_000_000 });
    fc.assert(
      fc.property(fc.oneof(near, fc.integer({ min: -far, max: far })), (ms) => {
        const [whole = ""] = new Date(ms).toISOString().split(".");
        assert.equal(timestamp(ms), `${whole}+00:00`);
      }),
      { numRuns: 5_000 },
    );
  });

  it("changes with the second and with the day", () => {
    const midnight = Date.UTC(2026, 11, 31);
    assert.equal(timestamp(midnight - 1), "2026-12-30T23:59:59+00:00");
    assert.equal(timestamp(midnight + 999), "2026-12-31T00:00:00+00:00");
    assert.equal(timestamp(midnight + 1_000), "2026-12-31T00:00:01+00:00");
  });

  it("is rejected when no calendar has it", () => {
    assert.throws(() => timestamp(Number.NaN), RangeError);
    assert.throws(() => timestamp(9e15), RangeError);
  });
});
