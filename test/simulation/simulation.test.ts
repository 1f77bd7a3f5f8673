import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { simulate } from "./run.ts";

describe("lobbies in a thousand storms", () => {
  it("keep every promise", async (t) => {
    const { failure, schedules, steps, faults, seconds } = await simulate({
      first: 1,
      count: 1_000,
    });
    t.diagnostic(
      `${schedules} schedules, ${steps} steps, ${faults} faults, ${seconds.toFixed(1)} s`,
    );
    assert.equal(
      failure &&
        `npm run simulate -- --schedules 1 --seed ${failure.seed}: ${failure.violation.message}`,
      null,
    );
  });
});
