import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { small } from "./kinds.ts";
import { simulate } from "./run.ts";

describe("lobbies in five thousand storms", () => {
  it("keep every promise, with few of everything", async () => {
    const { failure } = await simulate({ first: 1, count: 5_000, kind: small });
    assert.equal(
      failure?.violation.message,
      undefined,
      `npm run simulate -- --schedules 1 --seed ${failure?.seed}`,
    );
  });
});
