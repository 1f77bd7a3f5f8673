import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { shippedPath } from "./shipped-files.ts";

describe("the script that builds the tree of the image", () => {
  const folder = mkdtempSync(join(tmpdir(), "ember-tree-"));
  // There is nothing beside it to install.
  const script = join(folder, ".deploy/image/build-tree");
  mkdirSync(dirname(script), { recursive: true });
  cpSync(shippedPath("image/build-tree"), script);
  after(() => rmSync(folder, { recursive: true }));

  it("refuses a missing or used folder before it installs anything", () => {
    for (const [args, refusal] of [
      [[], /usage: build-tree <empty folder>\n$/],
      [[folder], /is not empty\n$/],
      [[".deploy"], /\/\.deploy is not empty\n$/],
    ] as const) {
      const { status, stdout, stderr } = spawnSync(script, args, { cwd: folder, encoding: "utf8" });
      assert.notEqual(status, 0);
      assert.equal(stdout, "");
      assert.match(stderr, refusal);
    }
  });
});
