import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FrozenDetector } from "../../../../server/runtime/boot/frozen-detection.ts";

/** Manual responses to pulses. */
function watched() {
  const pulses: ((value: unknown) => void)[] = [];
  let kills = 0;
  const detector = new FrozenDetector(
    () => new Promise((resolve) => pulses.push(resolve)),
    () => (kills += 1),
  );
  const check = (times: number) => {
    for (let i = 0; i < times; i++) detector.check();
  };
  return { pulses, check, kills: () => kills };
}

describe("a process that answers no heartbeat", () => {
  it("counts as frozen after five missed heartbeats in a row", () => {
    const process = watched();
    process.check(5);
    assert.equal(process.kills(), 0);
    process.check(1);
    assert.equal(process.kills(), 1);
  });

  it("is not frozen when one answer is late", async () => {
    const process = watched();
    process.check(5);
    process.pulses[0]?.(true);
    await new Promise(setImmediate);
    process.check(5);
    assert.equal(process.kills(), 0);
    process.check(1);
    assert.equal(process.kills(), 1);
  });
});
