import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { collectOnceIdle } from "../../server/runtime/boot/idle-collection.ts";

describe("the garbage collection after a start", () => {
  it("runs once, and not while the process is busy", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    // Node counts from the first turn of the event loop.
    await pause(1);
    let collections = 0;
    collectOnceIdle(async () => void (collections += 1));
    for (const end = performance.now() + 20; performance.now() < end;);
    t.mock.timers.tick(10_000);
    assert.equal(collections, 0, "at work since the start");
    for (let polls = 0; polls < 100 && collections === 0; polls++) {
      // Nothing happens in this process, so it is idle however busy the machine is.
      await pause(200);
      t.mock.timers.tick(10_000);
    }
    await pause(200);
    t.mock.timers.tick(10_000);
    assert.equal(collections, 1);
  });
});
