import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskText } from "../../../../server/platform/text/masking.ts";

describe("a masked text", () => {
  it("has no random id, number or code", () => {
    for (const [text, masked] of [
      ["token Qj0Ra_GV1KOsYtA5jqGSg55Frvrv8r", "token ***"],
      ["MigrationQj0Ra_GV1KOsYtA5jqGSg55Frvrv8r", "***"],
      ["code 123456", "code ***"],
      ["pids 123456", "pids ***"],
      ["123456789012", "***"],
    ] as const)
      assert.equal(maskText(text), masked);
  });

  it("shows which migration a start waits for, and which session blocks it", () => {
    const text =
      "Migration20261129090657_restores waits for pid 123456 (pg_dump, query since 2026-11-30T10:21:50.123Z)";
    assert.equal(maskText(text), text);
  });
});
