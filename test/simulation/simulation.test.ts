import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { small } from "./kinds.ts";
import { simulate } from "./run.ts";

describe("lobbies under five thousand random schedules", () => {
  it("keep every invariant in a small setup", async () => {
    const { failure } = await simulate({ first: 1, count: 5_000, kind: small });
    assert.equal(
      failure?.violation.message,
      undefined,
      `npm run simulate -- --schedules 1 --seed ${failure?.seed}`,
    );
  });
});
