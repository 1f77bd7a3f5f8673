import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { restartPauseMs } from "../../server/runtime/boot/restart-policy.ts";

const afterEach = (hasOthers: boolean) =>
  [1, 2, 3, 4, 8, 40].map((n) => restartPauseMs(n, hasOthers));

describe("a process that died", () => {
  it("restarts at once when no other process does its work, and later after each failure", () => {
    assert.deepEqual(afterEach(false), [100, 200, 400, 800, 10_000, 10_000]);
  });

  it("restarts later when other processes first have to take over its work", () => {
    assert.deepEqual(afterEach(true), [500, 500, 500, 800, 10_000, 10_000]);
  });
});
