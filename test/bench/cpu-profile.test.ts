import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { build } from "esbuild";
import {
  eachStack,
  profileClock,
  profileFlags,
  readProfiles,
  type CallFrame,
  type CpuProfile,
} from "../../bench/profile/cpu-profile.ts";
import { SourceNames } from "../../bench/profile/source-names.ts";

const root = mkdtempSync(join(tmpdir(), "ember-profile-test-"));
const frame = (functionName: string, url = ""): CallFrame => ({
  functionName,
  url,
  lineNumber: 0,
  columnNumber: 0,
});

/** `outer` called `inner`; one sample each at 1,010, 1,020, 1,030 and 1,040. */
const small: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2] },
    { id: 2, callFrame: frame("outer"), children: [3] },
    { id: 3, callFrame: frame("inner") },
  ],
  startTime: 1_000,
  samples: [2, 3, 3, 2],
  timeDeltas: [10, 10, 10, 10],
};

function stacksIn(profile: CpuProfile, from: number, to: number): Record<string, number> {
  const times: Record<string, number> = {};
  eachStack(profile, [from, to], (stack, micros) => {
    times[stack.map(({ functionName }) => functionName).join(" < ")] = micros;
  });
  return times;
}

function writeFiles(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const burn = `export function burn(ms: number): number {
  const until = performance.now() + ms;
  let count = 0;
  while (performance.now() < until) count += 1;
  return count;
}
`;

describe("CPU profiles", () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  describe("the reader", profileReader);
  describe("function names", functionNames);
});

function profileReader(): void {
  it("sums the time of each stack, the innermost function first", () => {
    assert.deepEqual(stacksIn(small, 0, 2_000), { outer: 10, "inner < outer": 20 });
  });

  it("leaves out samples before and after the measured span", () => {
    assert.deepEqual(stacksIn(small, 1_020, 1_030), { "inner < outer": 10 });
  });

  it("names a bundled function by its source, on the clock of this process", async () => {
    writeFiles({
      "server/work.ts": burn,
      "server/main.ts": `import { burn } from "./work.ts";\nburn(200);\n`,
    });
    const outdir = join(root, ".build");
    const entryPoints = [join(root, "server/main.ts")];
    await build({ entryPoints, outdir, bundle: true, format: "esm", sourcemap: true });
    const folder = join(root, "profiles");
    const from = profileClock();
    execFileSync(process.execPath, [join(outdir, "main.js")], {
      env: { NODE_OPTIONS: profileFlags(folder) },
    });
    const [name = ""] = readdirSync(folder);
    const [profile] = readProfiles(folder, [Number(name.split(".")[3])]);
    const names = new SourceNames(root);
    const seen = new Set<string>();
    assert.ok(profile);
    eachStack(profile, [from, profileClock()], (stack) =>
      stack.forEach((one) => seen.add(names.nameOf(one))),
    );
    assert.ok(seen.has("server/work.ts:burn"), [...seen].join("\n"));
  });
}

function functionNames(): void {
  const names = new SourceNames(root);

  it("include those of Node, of packages and of code that is not JavaScript", () => {
    const url = `file://${root}/node_modules/pino/lib/tools.js`;
    assert.equal(names.nameOf(frame("connect", "node:net")), "node:net:connect");
    assert.equal(names.nameOf(frame("asJson", url)), "node_modules/pino/lib/tools.js:asJson");
    assert.equal(names.nameOf(frame("(program)")), "(program)");
  });

  it("do not attribute a bundled package to the source before it", async () => {
    // As in the build, where the map covers only the first line of a package.
    const map = { version: 3, sources: ["big.js"], mappings: "AAAA" };
    const inline = Buffer.from(JSON.stringify(map)).toString("base64");
    writeFiles({
      "server/own.ts": burn,
      "node_modules/big/big.js": `// one\nexport function parse(x) {\n  return JSON.parse(x);\n}\n//# sourceMappingURL=data:application/json;base64,${inline}`,
      "server/both.ts": `import { burn } from "./own.ts";\nimport { parse } from "../node_modules/big/big.js";\nburn(parse("1"));\n`,
    });
    const entryPoints = [join(root, "server/both.ts")];
    const outdir = join(root, ".build");
    await build({ entryPoints, outdir, bundle: true, format: "esm", sourcemap: true });
    const file = join(outdir, "both.js");
    const lines = readFileSync(file, "utf8").split("\n");
    const nameAt = (functionName: string) => {
      const lineNumber = lines.findIndex((line) => line.includes(`function ${functionName}(`));
      return names.nameOf({
        ...frame(functionName, `file://${file}`),
        lineNumber,
        columnNumber: 15,
      });
    };
    assert.equal(nameAt("burn"), "server/own.ts:burn");
    assert.equal(nameAt("parse"), "node_modules/(bundled):parse");
  });
}
