import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { play } from "./play.ts";

describe("lobbies under a hundred thousand random schedules", () => {
  it("keep every invariant, in small and large setups and with slices of shards", async (t) => {
    // Sequential, because a second process would have to compile the code too.
    for (const [kind, schedules] of [
      ["small", 100_000],
      ["large", 300],
      ["wide", 300],
    ] as const) {
      const { isSound, output } = await play(kind, schedules);
      t.diagnostic(output.split("\n")[0] ?? "");
      assert.ok(isSound, output.slice(-20_000));
    }
  });
});
