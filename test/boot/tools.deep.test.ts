import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { builtProgram, sourceFlags } from "../support/programs.ts";
import { commandOf } from "../../server/runtime/stores/orphans.ts";
import { eventually } from "../support/eventually.ts";
import { serviceEnv, stopWhileStarting, temporaryDataDir } from "../support/process.ts";

/** Pids of the processes that use the folder, where the system shows them. */
function processesIn(folder: string): string[] {
  return globSync("/proc/[0-9]*").filter((path) => {
    try {
      const files = [join(path, "environ"), join(path, "cmdline")];
      return files.some((file) => readFileSync(file, "utf8").includes(folder));
    } catch {
      return false;
    }
  });
}

const root = join(import.meta.dirname, "../..");

function runTests(...given: string[]): Promise<unknown> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = [...sourceFlags, "test/run.ts", ...given];
  return promisify(execFile)(process.execPath, args, { cwd: root, env });
}

const endedWith =
  (wanted: number) =>
  ({ code }: { code: number }) =>
    code === wanted;

describe("the tools that start servers of their own", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryDataDir();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const tools = [
    { program: ["bench/main.ts", "micro", "operator", "--quick"], file: "primary.lock" },
    { program: ["bench/faults/main.ts", "--seconds", "5"], file: "primary.lock" },
    { program: ["bench/faults/main.ts", "--seconds", "5"], file: "postmaster.pid" },
    // A store being created, and a service that has just been called, have no pid file yet.
    { program: ["bench/faults/main.ts", "--seconds", "5"], file: "postgres.new" },
    { program: ["bench/faults/main.ts", "--seconds", "5"], file: "ember-data-*" },
    { program: ["db/create-migration.ts"], file: "d.new" },
    { program: ["db/create-migration.ts"], file: "postmaster.pid" },
  ];
  for (const { program, file } of tools)
    it(`${program[0]} leaves nothing behind when it is stopped while ${file} exists`, async () => {
      // tsx keeps files in the temporary folder for the next run.
      const env = serviceEnv(folder, { TMPDIR: folder, TSX_DISABLE_CACHE: "1" });
      const untilIt = () =>
        eventually("a server starts", () => globSync(`**/${file}`, { cwd: folder }).length > 0);
      const code = await stopWhileStarting(env, untilIt, {
        program: [...sourceFlags, ...program],
        signal: "SIGTERM",
      });
      assert.deepEqual([code, readdirSync(folder), processesIn(folder)], [130, [], []]);
    });

  it("report in one line what is wrong with their options, and print the usage", async () => {
    const wrong: [reason: string, ...args: string[]][] = [
      [
        '"nope" is neither a scenario of hub (lobbies, topic) nor a bench',
        ...["bench/main.ts", "hub", "nope"],
      ],
      ["Unknown option '--fast'", "bench/faults/main.ts", "--fast"],
      ["--seconds must be a whole number of at least 1", "bench/faults/main.ts", "--seconds", "x"],
      [
        "--schedules must be a whole number of at least 1",
        "test/faults/main.ts",
        "--schedules",
        "x",
      ],
      ["--kind must be small, large or wide", "test/faults/main.ts", "--kind", "huge"],
    ];
    const outputs = await Promise.all(
      wrong.map(([, ...args]) =>
        promisify(execFile)(process.execPath, [...sourceFlags, ...args], { cwd: root }).then(
          () => null,
          (error: { code: number; stderr: string }) => [
            error.code,
            ...error.stderr.split("\n").filter((line) => line !== ""),
          ],
        ),
      ),
    );
    assert.deepEqual(
      outputs.map((lines) => lines?.slice(0, 2)),
      wrong.map(([reason]) => [1, reason]),
    );
    for (const lines of outputs) assert.match(String(lines?.[2]), /^usage: npm run /i);
  });

  it("finish a test run, even when a test hangs beside a process it froze", async () => {
    const file = join(folder, "frozen.test.mjs");
    const pidFile = join(folder, "pid");
    const [support, program] = ["test/support/forked.ts", "test/actors/rooms/member-process.ts"];
    writeFileSync(
      file,
      `import { writeFileSync } from "node:fs";
import { it } from "node:test";
import { forked } from ${JSON.stringify(join(root, support))};
it("hangs", async () => {
  const child = forked(new URL(${JSON.stringify(pathToFileURL(join(root, program)))}), ["unix:///nowhere"]);
  child.kill("SIGSTOP");
  writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
});
`,
    );
    await assert.rejects(runTests("--test-timeout=5000", file), endedWith(1));
    assert.equal(commandOf(Number(readFileSync(pidFile, "utf8"))) ?? "", "");
  });

  it("treat a file that cannot be loaded, and a failing clean-up, as a failed test", async () => {
    const texts = {
      "load.test.mjs": `throw new Error("cannot be loaded");`,
      "clean.test.mjs": `import { after, describe, it } from "node:test";
describe("a suite", () => {
  after(() => Promise.reject(new Error("something is left")));
  it("passes", () => {});
});
`,
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    for (const name of Object.keys(texts))
      await assert.rejects(runTests(join(folder, name)), endedWith(1), name);
  });

  it("print no OpenAPI document for an unknown option", async () => {
    for (const arg of ["--operators", "operator"])
      await assert.rejects(
        promisify(execFile)(process.execPath, [...builtProgram("openapi"), arg], {
          cwd: root,
        }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) =>
          code === 1 && stdout === "" && /^error: (unknown option|too many arguments)/.test(stderr),
      );
  });
});
