import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as esbuild from "esbuild";
import { asset } from "../../../server/platform/assets.ts";
import { browsers, bundleScripts } from "../../../server/web/bundle.mjs";

const web = asset("server/web");

/** What esbuild changes and reports for the oldest browsers of the pages. */
function lower(code: string, loader: "css" | "js") {
  const plain = esbuild.transformSync(code, { loader, charset: "utf8" });
  const lowered = esbuild.transformSync(code, { loader, charset: "utf8", target: browsers });
  return { isChanged: plain.code !== lowered.code, warnings: lowered.warnings };
}

describe("the oldest browsers of the pages", () => {
  it("read every stylesheet as it is written", () => {
    const files = globSync("**/*.css", { cwd: web });
    assert.ok(files.length > 5);
    for (const file of files) {
      const found = lower(readFileSync(join(web, file), "utf8"), "css");
      assert.deepEqual(found, { isChanged: false, warnings: [] }, file);
    }
    const nested = lower("a { &:hover { color: red } }", "css");
    assert.ok(nested.isChanged, "nesting is too new for them");
  });

  it("are not held to all of CSS, as the manual says", () => {
    const unknown = ["a { color: light-dark(red, tan) }", "a:has(b) { color: red }"];
    for (const code of [...unknown, "a { color: color-mix(in srgb, red, tan) }"])
      assert.deepEqual(lower(code, "css"), { isChanged: false, warnings: [] }, code);
  });

  it("get every script without syntax that is too new", () => {
    const scripts = bundleScripts(esbuild, asset("")).filter(({ name }) => name.endsWith(".js"));
    assert.ok(scripts.length > 5);
    for (const { name, contents } of scripts) {
      const found = lower(new TextDecoder().decode(contents), "js");
      assert.deepEqual(found, { isChanged: false, warnings: [] }, name);
    }
  });

  it("have all that the compiler lets scripts use", () => {
    const folder = mkdtempSync(join(tmpdir(), "ember-lib-"));
    try {
      const settings = { extends: join(web, "tsconfig.json"), include: ["."] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
      const source = "Map.groupBy([], String); [1].toSorted(); [1].toReversed(); [1].at(0);";
      writeFileSync(join(folder, "probe.ts"), source);
      const args = [join(asset("node_modules"), "typescript/bin/tsc"), "--project", folder];
      const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
      const missing = [...stdout.matchAll(/Property '(\w+)' does not exist/g)].map(
        ([, name]) => name,
      );
      assert.deepEqual(missing, ["groupBy", "toSorted", "toReversed"], stdout);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
