import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StartError, startupStep } from "../../../../server/runtime/boot/start-error.ts";

describe("a step of the start that fails", () => {
  it("gives its reason, also where none of several addresses answers", async () => {
    const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
    for (const [error, message] of [
      [new Error("no room"), "not opened: no room"],
      [
        new AggregateError(refused),
        "not opened: connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1",
      ],
      [new StartError("says it all"), "says it all"],
    ] as const)
      await assert.rejects(
        startupStep("not opened", Promise.reject(error)),
        new StartError(message),
      );
  });
});
