import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { coalesceMs } from "../../../server/sse/pace.ts";

const most = 50;

test("an idle process writes at its next turn", () => {
  assert.equal(coalesceMs({ costMs: 0, lagMs: 0 }, most), 0);
  assert.equal(coalesceMs({ costMs: 0.2, lagMs: 2 }, most), 0);
});

test("a costly flush is followed by a pause in proportion, a late turn by one as well", () => {
  assert.equal(coalesceMs({ costMs: 4, lagMs: 0 }, most), 12);
  assert.equal(coalesceMs({ costMs: 0, lagMs: 25 }, most), 20);
  assert.equal(coalesceMs({ costMs: 4, lagMs: 25 }, most), 32);
});

test("no pressure makes messages wait longer than the bound, and more never makes them wait less", () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(ms, ms, ms, (costMs, lagMs, more) => {
      const pause = coalesceMs({ costMs, lagMs }, most);
      assert.ok(pause >= 0 && pause <= most);
      assert.ok(coalesceMs({ costMs: costMs + more, lagMs }, most) >= pause);
      assert.ok(coalesceMs({ costMs, lagMs: lagMs + more }, most) >= pause);
    }),
  );
});
