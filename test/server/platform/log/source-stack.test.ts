import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { createSourceStack } from "../../../../server/platform/log/source-stack.ts";

const source = `interface Unused { lines: number }

export function fail(): never {
  throw new Error("wrong");
}
`;

describe("a stack trace", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-stack-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function stackOf(name: string, hasMap: boolean): Promise<string> {
    writeFileSync(join(folder, `${name}.ts`), source);
    const outfile = join(folder, "out", `${name}.js`);
    const entry = join(folder, `${name}.ts`);
    await build({ entryPoints: [entry], outfile, format: "esm", sourcemap: hasMap });
    const { fail } = (await import(pathToFileURL(outfile).href)) as { fail: () => never };
    try {
      return fail();
    } catch (error) {
      return (error as Error).stack ?? "";
    }
  }
  const sourceStack = () => createSourceStack(pathToFileURL(join(folder, "out/")));

  it("names source files and lines when the bundle has a source map", async () => {
    const stack = sourceStack()(await stackOf("mapped", true));
    assert.match(stack, /^Error: wrong\n +at .*fail \(file:\/\/\/.*\/mapped\.ts:4:9\)\n/);
    assert.doesNotMatch(stack, /mapped\.js/);
  });

  it("is unchanged for a bundle without a source map, and for files outside the folder", async () => {
    const unmapped = await stackOf("unmapped", false);
    assert.equal(sourceStack()(unmapped), unmapped);
    const other = "Error: wrong\n    at fail (file:///elsewhere/mapped.js:1:1)";
    assert.equal(sourceStack()(other), other);
  });
});
