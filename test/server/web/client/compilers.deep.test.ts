import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { asset } from "../../../../server/platform/assets.ts";
import { publishedFiles } from "./declarations.ts";

const root = asset("");
const manual = readFileSync(asset("server/web/README.md"), "utf8");
/** The sentence of the manual that says what the client compiles with. */
const promised =
  /TypeScript (?<floor>\d+\.\d+) and newer.*`lib` `(?<lib>\w+)` with `(?<page>\w+)`/.exec(
    manual,
  )?.groups;

/** The strictest of a user's options, as far as the oldest compiler has them. */
const strict = [
  "strict",
  "exactOptionalPropertyTypes",
  "noUncheckedIndexedAccess",
  "noPropertyAccessFromIndexSignature",
  "noImplicitOverride",
  "noImplicitReturns",
  "noUnusedLocals",
  "noUnusedParameters",
  "verbatimModuleSyntax",
  "noEmit",
  "skipLibCheck",
];

/** Uses the source, and the declarations of the script, in the same way. */
const user = `import { Emberline, type LobbyEvent } from "./emberline.js";
export async function follow(code: string): Promise<LobbyEvent["type"][]> {
  const seat = await new Emberline({ fetch }).join(code, "Ada");
  const types: LobbyEvent["type"][] = [];
  for await (const event of seat.events()) types.push(event.type);
  return types;
}
`;

const libraries = {
  "a page of the newest library": { lib: ["esnext", "dom", "dom.iterable"], types: [] },
  "a page of the oldest library": { lib: [promised?.["lib"], promised?.["page"]], types: [] },
  "Node alone": { lib: [promised?.["lib"]], types: ["node"] },
};

describe("the published client compiles", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-compilers-"));
    for (const kind of ["source", "types"]) {
      mkdirSync(join(folder, kind));
      writeFileSync(join(folder, kind, "user.ts"), user);
    }
    const files = publishedFiles();
    for (const file of ["source/emberline.ts", "types/emberline.d.ts"])
      writeFileSync(join(folder, file), files.get(`client/${basename(file)}`) ?? "");
  });
  after(() => rmSync(folder, { recursive: true }));

  async function compile(compiler: string, libs: (typeof libraries)[keyof typeof libraries]) {
    const options = {
      ...Object.fromEntries(strict.map((name) => [name, true])),
      target: promised?.["lib"],
      module: "esnext",
      moduleResolution: "bundler",
      typeRoots: [join(root, "node_modules/@types")],
      ...libs,
    };
    const project = join(folder, "tsconfig.json");
    const files = ["source/user.ts", "types/user.ts"];
    writeFileSync(project, JSON.stringify({ compilerOptions: options, files }));
    const args = [join(root, "node_modules", compiler, "bin/tsc"), "--project", project];
    const compiled = promisify(execFile)(process.execPath, args);
    const { stdout } = await compiled.catch((error: { stdout: string }) => error);
    assert.equal(stdout, "");
  }

  for (const [place, libs] of Object.entries(libraries))
    it(`with the newest TypeScript for ${place}`, () => compile("typescript", libs));
  for (const [place, libs] of Object.entries(libraries).slice(1))
    it(`with the oldest TypeScript for ${place}`, () => compile("typescript-oldest", libs));

  it("with the oldest TypeScript that its manual names, which these tests use", () => {
    const text = readFileSync(join(root, "node_modules/typescript-oldest/package.json"), "utf8");
    const { version } = JSON.parse(text) as { version: string };
    assert.ok(promised?.["floor"] && version.startsWith(`${promised["floor"]}.`), version);
  });
});
