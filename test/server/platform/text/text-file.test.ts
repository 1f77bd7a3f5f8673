import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadConfig } from "../../../../server/platform/config/config.ts";
import { readText, readTextSync } from "../../../../server/platform/text/text-file.ts";

describe("a text file written by a user", () => {
  const startedIn = process.cwd();
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-text-"));
    process.chdir(folder);
  });
  after(() => {
    process.chdir(startedIn);
    rmSync(folder, { recursive: true });
  });

  it("is read without its leading byte order mark, and keeps any other", async () => {
    const file = join(folder, "awards.json");
    writeFileSync(file, '\ufeff["\ufeff"]');
    assert.equal(await readText(file), '["\ufeff"]');
    assert.equal(readTextSync(file), '["\ufeff"]');
  });

  it("may be a settings file, whose first setting keeps its name", () => {
    writeFileSync(join(folder, ".env"), "\ufeffTOKEN_ISSUER=windows\nTOPIC_BASE=/x\n");
    assert.equal(loadConfig().TOKEN_ISSUER, "windows");
  });
});
