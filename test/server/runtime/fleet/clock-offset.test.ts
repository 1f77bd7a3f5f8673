import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClockOffset } from "../../../../server/runtime/fleet/clock-offset.ts";

describe("the offset of a clock", () => {
  it("is that of the shortest round trip, whatever slower ones say", () => {
    const clock = new ClockOffset();
    assert.equal(clock.ms, 0);
    clock.add(1_000, 400, 1_800);
    assert.equal(clock.ms, 1_000);
    clock.add(3_000, 2_300, 3_002);
    clock.add(5_000, 1_000, 9_000);
    assert.equal(clock.ms, 701);
  });

  it("follows a clock that is set, after a dozen samples", () => {
    const clock = new ClockOffset();
    clock.add(1_000, 1_000, 1_000);
    for (let i = 0; i < 12; i++) clock.add(9_000, 1_000, 9_010);
    assert.equal(clock.ms, 8_005);
  });
});
