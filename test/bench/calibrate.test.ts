import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareTools } from "../../bench/calibrate.ts";

const rounds = (perSecond: number, p50Ms: number) =>
  Array.from({ length: 5 }, () => ({ perSecond, p50Ms, p99Ms: null }));

describe("the calibration of the bots", () => {
  it("agrees with a tool within a tenth of its rate and its median", () => {
    const { rows, exitCode } = compareTools(
      new Map([
        ["bots", rounds(950, 1.05)],
        ["wrk", rounds(1_000, 1)],
      ]),
    );
    assert.equal(exitCode, 0);
    assert.deepEqual(rows.at(-1)?.slice(-2), ["0.05 (0.05-0.05)", "agrees"]);
  });

  it("says how far apart they are, and leaves a tool out that is not installed", () => {
    const { rows, exitCode } = compareTools(
      new Map([
        ["bots", rounds(500, 2)],
        ["wrk", rounds(1_000, 1)],
        ["autocannon", []],
      ]),
    );
    assert.equal(exitCode, 2);
    assert.deepEqual(
      rows.map(([name]) => name),
      ["bots", "wrk"],
    );
    assert.deepEqual(rows.at(-1)?.slice(-2), ["1.00 (1.00-1.00)", "more than 10 % apart"]);
  });

  it("shows a median that a tool counts as 0 ms as below 1 ms, and compares only the rate with it", () => {
    const { rows, exitCode } = compareTools(
      new Map([
        ["bots", rounds(950, 0.6)],
        ["autocannon", rounds(1_000, 0)],
      ]),
    );
    assert.equal(exitCode, 0);
    const [, rate, p50, , , , added, answer] = rows.at(-1) ?? [];
    assert.deepEqual([rate, p50, added, answer], ["1000", "< 1", "", "agrees"]);
  });
});
