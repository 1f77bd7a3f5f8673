import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { promisify } from "node:util";
import { commands } from "../server/console/commands.ts";
import { configTable } from "../server/console/config-table.ts";
import { joinClient } from "../server/web/join-client.mjs";

const root = join(import.meta.dirname, "..");
/** All README files, by path. */
const pages = new Map(
  [
    "README.md",
    ...globSync("{server,workers,actors,importers,db,bench,test}/**/README.md", { cwd: root }),
  ].map((path) => [path, readFileSync(join(root, path), "utf8")]),
);
const all = [...pages.values()].join("\n");
const maxReadmeLines = 200;

/** The text between the two comments with this name. */
function section(name: string): string {
  const [, rest = ""] = all.split(`<!-- ${name} -->\n\n`, 2);
  return rest.split(`\n<!-- end of ${name} -->`, 1)[0] ?? "";
}

/** The robot and the client in a separate folder, like after copying them. */
function copyRobot(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "ember-robot-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const robot = /```ts\n(.*)```/s.exec(section("robot"))?.[1];
  assert.ok(robot);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "robot.ts"), robot);
  writeFileSync(join(folder, "emberline.ts"), joinClient(root));
  return folder;
}

/** Libraries and compiler options of a project for Node, without browser types. */
const nodeProject = `--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess
  --module nodenext --target es2022 --lib es2022 --types node --skipLibCheck
  --allowImportingTsExtensions`;

describe("the README", () => {
  it("has a sample robot that compiles with the client in a strict project for Node alone", async (t) => {
    const typeRoots = join(root, "node_modules/@types");
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const args = [compiler, ...nodeProject.split(/\s+/), "--typeRoots", typeRoots, "robot.ts"];
    const compiled = promisify(execFile)(process.execPath, args, { cwd: copyRobot(t) });
    const output = await compiled.catch((error: { stdout: string }) => error);
    assert.equal(output.stdout, "");
  });

  it("lists every setting as the configuration declares it", () => {
    const columns = (table: string) =>
      table
        .trim()
        .split("\n")
        .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    const asDeclared = columns(configTable()).filter((cells) => cells[1] !== "---");
    const asWritten = columns(section("settings")).filter((cells) => !/^-+$/.test(cells[1] ?? ""));
    assert.deepEqual(asWritten, asDeclared, "print it with: npm run console -- config --markdown");
  });

  it("names every console command", () => {
    const missing = commands.filter(({ name }) => !all.includes(`\`${name}`));
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
  });

  it("names only existing scripts", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = [...all.matchAll(/npm run ([a-z:]+)/g)].map(([, name = ""]) => name);
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((name) => !(name in manifest.scripts)),
      [],
    );
  });

  /** What the recipes make. */
  const isExample = (target: string) => /\b(chess|notes?)\b/.test(target);

  it("names only existing files", () => {
    const missing = [...pages].flatMap(([page, text]) => {
      const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) =>
        join(dirname(page), target),
      );
      const paths = [...text.matchAll(/`((?:server|workers|actors|db|bench|test)\/[\w./-]*)`/g)];
      const targets = [...links, ...paths.map(([, path = ""]) => path)];
      return targets
        .filter((target) => !existsSync(join(root, target)) && !isExample(target))
        .map((target) => `${page}: ${target}`);
    });
    assert.deepEqual(missing, []);
  });

  it("links only to existing headings", () => {
    const anchorsOf = (text: string) =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
          .replaceAll(" ", "-"),
      );
    const missing = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].flatMap(([, path = "", anchor = ""]) => {
        const target = path === "" ? page : join(dirname(page), path);
        const known = pages.get(target);
        return known === undefined || anchorsOf(known).includes(anchor)
          ? []
          : [`${page}: ${target}#${anchor}`];
      }),
    );
    assert.deepEqual(missing, []);
  });

  it("stays below its length limit", () => {
    assert.ok((pages.get("README.md") ?? "").split("\n").length <= maxReadmeLines);
  });
});
