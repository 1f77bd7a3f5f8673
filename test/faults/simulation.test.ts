import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { play } from "./play.ts";

describe("lobbies under five thousand random schedules", () => {
  it("keep every invariant in a small setup", async (t) => {
    const { isSound, output } = await play("small", 5_000);
    t.diagnostic(output.split("\n")[0] ?? "");
    assert.ok(isSound, output.slice(-20_000));
  });
});
