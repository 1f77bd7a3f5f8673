import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { cacheFolder } from "../../../../server/runtime/stores/cache-folder.ts";

describe("the folder of downloaded programs", () => {
  const root = mkdtempSync(join(tmpdir(), "ember-cache-"));
  const home = process.env["HOME"];
  after(() => {
    process.env["HOME"] = home;
    rmSync(root, { recursive: true, force: true });
  });

  it("is the configured one, else one in the home of the user, else the data folder", () => {
    assert.equal(cacheFolder(join(root, "named"), root), join(root, "named"));
    process.env["HOME"] = root;
    assert.equal(cacheFolder("", "data"), join(root, ".cache/emberline"));
    writeFileSync(join(root, "file"), "");
    process.env["HOME"] = join(root, "file");
    assert.equal(cacheFolder("", "data"), "data");
  });
});
