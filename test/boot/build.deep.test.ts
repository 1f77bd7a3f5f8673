import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");
/** Root can write everywhere. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const folders = [
  "server",
  "workers",
  "actors",
  "importers",
  "db",
  "package.json",
  "package-lock.json",
];

describe("the build", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-build-"));
    chmodSync(folder, 0o755);
    for (const name of folders) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const build = (...args: string[]) => [join(folder, "server/build.mjs"), ...args];
  const current = () => readlinkSync(join(folder, ".build/current"));
  const refusal = (options: object = {}) =>
    promisify(execFile)(process.execPath, build("--if-changed"), options).then(
      () => "nothing was refused",
      (error: { code: number; stderr: string }) => `${error.code} ${error.stderr}`,
    );
  const changed = "server/platform/ids.ts";
  const change = (text: string) =>
    writeFileSync(join(folder, changed), readFileSync(join(root, changed), "utf8") + text);

  it("is made once for the same sources, which its name identifies", () => {
    execFileSync(process.execPath, build("--if-changed"));
    const first = current();
    const map = join(folder, ".build/current/primary.js.map");
    const made = readFileSync(map, "utf8");
    writeFileSync(map, "untouched");
    execFileSync(process.execPath, build("--if-changed"));
    assert.deepEqual([current(), readFileSync(map, "utf8")], [first, "untouched"]);
    execFileSync(process.execPath, build());
    assert.deepEqual([current(), readFileSync(map, "utf8")], [first, made], "and again when asked");
  });

  it("has the types of the client, and writes those of the OpenAPI document again when they are missing", () => {
    const types = join(folder, "server/web/generated/types.ts");
    const first = current();
    rmSync(dirname(types), { recursive: true });
    execFileSync(process.execPath, build("--if-changed"));
    assert.equal(current(), first, "they are no sources");
    assert.match(readFileSync(types, "utf8"), /^export interface Lobby \{/m);
    const published = join(folder, ".build/current/server/web/client/emberline.d.ts");
    assert.match(readFileSync(published, "utf8"), /^export interface Lobby \{/m);
  });

  it("has the commit of the checkout, also if that changes no source, or the one that it is given", () => {
    const commit = () => {
      const file = join(folder, ".build/current/commit");
      return existsSync(file) ? readFileSync(file, "utf8") : null;
    };
    const git = (...args: string[]) => {
      const options = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", folder, ...args];
      return execFileSync("git", options, { encoding: "utf8" }).trim();
    };
    const made = current();
    assert.equal(commit(), null, "without a history");
    execFileSync(process.execPath, build("--if-changed", "--commit=abc"));
    assert.equal(commit(), "abc");
    git("init", "--quiet");
    git("add", "package.json");
    for (const subject of ["one", "two"]) {
      git("commit", "--quiet", "--allow-empty", "--message", subject);
      execFileSync(process.execPath, build("--if-changed"));
      assert.equal(commit(), git("rev-parse", "HEAD"), subject);
    }
    writeFileSync(join(folder, "package.json"), readFileSync(join(root, "package.json"), "utf8"));
    assert.equal(current(), made, "no other build was made");
    rmSync(join(folder, ".git"), { recursive: true });
    execFileSync(process.execPath, build("--if-changed"));
    assert.equal(commit(), null);
  });

  it("keeps the build that a service may run from when the sources change", () => {
    const first = current();
    change("export const version = 2;\n");
    execFileSync(process.execPath, build("--if-changed"));
    assert.notEqual(current(), first);
    assert.ok(existsSync(join(folder, ".build", first, "primary.js")));
  });

  it("leaves nothing behind when the sources are wrong, and reports where", async () => {
    const last = current();
    change("export const version: = 3;\n");
    const output = await refusal();
    assert.match(output, /^1 the build failed: .*\n.*ids\.ts:\d+:\d+: ERROR/);
    assert.equal(current(), last);
    assert.deepEqual(
      readdirSync(join(folder, ".build")).filter((name) => name.includes(".")),
      [],
    );
  });

  it("reports in one line what to run when its folder is not writable", async () => {
    change("export const version = 4;\n");
    chmodSync(join(folder, ".build"), 0o555);
    assert.match(
      await refusal(unprivileged),
      /^1 the sources have changed since the build in \.build.*`npm run build`.*\n$/,
    );
    chmodSync(join(folder, ".build"), 0o755);
  });
});
