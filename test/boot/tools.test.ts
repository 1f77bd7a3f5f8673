import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { nodeFlags } from "../../server/core/node-flags.ts";
import { eventually } from "../support/eventually.ts";
import { serviceEnv, stopWhileStarting, temporaryDataDir } from "../support/process.ts";

const root = join(import.meta.dirname, "../..");

describe("the tools that start servers of their own", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryDataDir();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const tools = [
    { program: ["bench/main.ts", "http", "--quick"], file: "primary.lock" },
    { program: ["test/survival/main.ts", "--seconds", "5"], file: "primary.lock" },
    { program: ["test/survival/main.ts", "--seconds", "5"], file: "postmaster.pid" },
  ];
  for (const { program, file } of tools)
    it(`${program[0]} leaves nothing behind when it is interrupted beside ${file}`, async () => {
      const env = serviceEnv(folder, { TMPDIR: folder });
      const untilIt = () =>
        eventually("a server starts", () => globSync(`**/${file}`, { cwd: folder }).length > 0);
      const code = await stopWhileStarting(env, untilIt, { program, signal: "SIGINT" });
      assert.deepEqual([code, readdirSync(folder)], [130, []]);
    });

  it("say in one line what is wrong with their options, and how they are meant", async () => {
    const wrong: [reason: string, ...args: string[]][] = [
      ["Unknown option '--fast'", "bench/main.ts", "http", "--fast"],
      ['there is no bench "nope"', "bench/main.ts", "nope"],
      ['there is no scenario or bench "nope"', "bench/main.ts", "hub", "nope"],
      ["Unknown option '--fast'", "test/survival/main.ts", "--fast"],
      ["--seconds must be a whole number of at least 1", "test/survival/main.ts", "--seconds", "x"],
      [
        "--schedules must be a whole number of at least 1",
        "test/simulation/main.ts",
        "--schedules",
        "x",
      ],
      ["--kind must be small or large", "test/simulation/main.ts", "--kind", "huge"],
    ];
    const said = await Promise.all(
      wrong.map(([, ...args]) =>
        promisify(execFile)(process.execPath, [...nodeFlags, ...args], { cwd: root }).then(
          () => null,
          (error: { code: number; stderr: string }) => [
            error.code,
            ...error.stderr.split("\n").slice(0, 2),
          ],
        ),
      ),
    );
    assert.deepEqual(
      said.map((lines) => lines?.slice(0, 2)),
      wrong.map(([reason]) => [1, reason]),
    );
    for (const lines of said) assert.match(String(lines?.[2]), /^usage: npm run /);
  });
});
