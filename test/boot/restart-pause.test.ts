import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { restartPauseMs } from "../../server/runtime/boot/restart-policy.ts";

const afterEach = (hasOthers: boolean) =>
  [1, 2, 3, 4, 8, 40].map((n) => restartPauseMs(n, hasOthers));

describe("a process that died", () => {
  it("starts again at once when nobody else does its work, and later each time it fails", () => {
    assert.deepEqual(afterEach(false), [100, 200, 400, 800, 10_000, 10_000]);
  });

  it("leaves the processor to those who take over first", () => {
    assert.deepEqual(afterEach(true), [500, 500, 500, 800, 10_000, 10_000]);
  });
});
