import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const keeper = new URL("../../../server/core/stripped-sources.mjs", import.meta.url);

describe("TypeScript files of a start", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-strip-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What a process says that imports the file with stripped sources kept in `kept`. */
  async function run(file: string, kept: string): Promise<string> {
    const program = `
      const { keepStrippedSources } = await import(${JSON.stringify(keeper.href)});
      keepStrippedSources(${JSON.stringify(kept)});
      await import(${JSON.stringify(pathToFileURL(file).href)});`;
    const args = [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "--eval",
      program,
    ];
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  }

  it("are stripped once, and again when they say something else", async () => {
    const file = join(folder, "greeting.ts");
    const kept = join(folder, "kept");
    writeFileSync(file, 'const greeting: string = "first";\nconsole.log(greeting);\n');
    assert.equal(await run(file, kept), "first");
    assert.equal(await run(file, kept), "first");
    const [only = "", ...others] = readdirSync(kept);
    assert.deepEqual(others, []);
    writeFileSync(join(kept, only), 'console.log("what is kept is used");\n');
    assert.equal(await run(file, kept), "what is kept is used");
    writeFileSync(file, 'const greeting: string = "second";\nconsole.log(greeting);\n');
    assert.equal(await run(file, kept), "second");
  });

  it("are found beside each other, and missed by name", async () => {
    const file = join(folder, "whole.ts");
    writeFileSync(join(folder, "part.ts"), 'export const part: string = "found";\n');
    writeFileSync(file, 'import { part } from "./part.ts";\nconsole.log(part);\n');
    assert.equal(await run(file, join(folder, "kept")), "found");
    rmSync(join(folder, "part.ts"));
    await assert.rejects(run(file, join(folder, "kept")), /no such file .*part\.ts/);
  });

  it("load where nothing can be kept", async () => {
    const file = join(folder, "anywhere.ts");
    writeFileSync(file, "const text: string = import.meta.url;\nconsole.log(typeof text);\n");
    writeFileSync(join(folder, "occupied"), "");
    assert.equal(await run(file, join(folder, "occupied", "kept")), "string");
  });
});
