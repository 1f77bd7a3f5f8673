import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const linker = new URL("../../../server/core/linked-packages.mjs", import.meta.url);
const installed = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const cache = join(installed, ".cache");

describe("packages of many modules", () => {
  let folder: string;
  before(() => {
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, "linked-test-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What `program` says in a process that has linked the packages into `kept`; null for one that has not. */
  async function run(kept: string | null, program: string): Promise<string> {
    const start = `
      const { linked, linkPackages } = await import(${JSON.stringify(linker.href)});
      const kept = ${JSON.stringify(kept)};
      if (kept !== null) await linkPackages(${JSON.stringify(installed)}, kept);`;
    const args = ["--input-type=module", "--eval", start + program];
    return (await promisify(execFile)(process.execPath, args, { env: {} })).stdout.trim();
  }

  /** Of each package what it exports; `default` is what an import makes of CommonJS. */
  const listNames = `
    for (const name of linked)
      for (const key of Object.keys(await import(name)).sort())
        if (key !== "default" && key !== "__esModule") console.log(name, key);`;

  it("export the same when they are linked", async () => {
    const kept = join(folder, "same");
    const names = (await run(kept, listNames)).split("\n");
    assert.equal(readdirSync(kept).length, 1);
    const expected = (await run(null, listNames)).split("\n");
    assert.ok(expected.length > 1_000);
    // Differences alone, not two lists of a thousand names.
    assert.deepEqual(
      [
        names.filter((name) => !expected.includes(name)),
        expected.filter((name) => !names.includes(name)),
      ],
      [[], []],
    );
  });

  it("are linked once, and shared by those that are imported apart", async () => {
    const kept = join(folder, "once");
    const isShared = `
      const [driver, core] = [await import("@mikro-orm/postgresql"), await import("@mikro-orm/core")];
      console.log(driver.EntitySchema === core.EntitySchema);`;
    const answers = await Promise.all([run(kept, isShared), run(kept, isShared)]);
    assert.deepEqual(answers, ["true", "true"], "also when two start at the same time");
    const [place = "", ...others] = readdirSync(kept);
    assert.deepEqual(others, []);
    writeFileSync(join(kept, place, "kysely.mjs"), 'console.log("what is kept is used");');
    assert.equal(await run(kept, 'await import("kysely");'), "what is kept is used");
  });

  it("load where nothing can be kept", async () => {
    writeFileSync(join(folder, "occupied"), "");
    const program = 'console.log(typeof (await import("kysely")).sql);';
    assert.equal(await run(join(folder, "occupied", "kept"), program), "function");
  });
});
