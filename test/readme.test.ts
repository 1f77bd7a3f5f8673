import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { commands } from "../server/console/commands.ts";
import { configTable } from "../server/console/config-table.ts";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** What stands between the two comments of this name. */
function section(name: string): string {
  const [, rest = ""] = readme.split(`<!-- ${name} -->\n\n`, 2);
  return rest.split(`\n<!-- end of ${name} -->`, 1)[0] ?? "";
}

describe("the README", () => {
  it("has every setting as the configuration declares it", () => {
    const columns = (table: string) =>
      table
        .trim()
        .split("\n")
        .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    const asDeclared = columns(configTable()).filter((cells) => cells[1] !== "---");
    const asWritten = columns(section("settings")).filter((cells) => !/^-+$/.test(cells[1] ?? ""));
    assert.deepEqual(asWritten, asDeclared, "print it with: npm run console -- config --markdown");
  });

  it("names every command of the console", () => {
    const missing = commands.filter(({ name }) => !readme.includes(`\`${name}`));
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
  });

  it("names only scripts that exist", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm run ([a-z:]+)/g)].map(([, name = ""]) => name);
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((name) => !(name in manifest.scripts)),
      [],
    );
  });

  it("points only at files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, target = ""]) => target);
    const paths = [...readme.matchAll(/`((?:server|workers|actors|db|bench|test)\/[\w./-]*)`/g)];
    const targets = [...links, ...paths.map(([, path = ""]) => path)];
    assert.ok(targets.length > 0);
    assert.deepEqual(
      targets.filter((target) => !existsSync(join(root, target))),
      [],
    );
  });
});
