import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { markdownEntry } from "../../../../server/features/archive/markdown.ts";

describe("patch notes", () => {
  it("cut a long value between characters", () => {
    for (const fill of [488, 489, 490]) {
      const before = "x".repeat(fill) + "😀".repeat(20);
      const changes = [{ path: "text", before, after: null }];
      const text = markdownEntry("id.item.a", { op: "changed", name: "A", changes });
      assert.ok(text.isWellFormed());
      assert.match(text, /x😀+…` → /u);
    }
  });

  it("quote a path with any number of backticks", () => {
    const path = "` ".repeat(250_000);
    const changes = [{ path, before: "```", after: null }];
    const text = markdownEntry("id.item.a", { op: "changed", name: "A", changes });
    assert.ok(text.includes(`\`\` ${path} \`\`: \`\`\`\` "\`\`\`" \`\`\`\` → \`null\``));
  });
});
