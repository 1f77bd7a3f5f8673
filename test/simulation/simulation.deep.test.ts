import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { sourceFlags } from "../support/programs.ts";

const program = fileURLToPath(new URL("./main.ts", import.meta.url));
const flags = [
  ...sourceFlags,
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  "--single-threaded-gc",
];

/** Plays in a separate process; resolves to its output, which ends with the failing seed, if any. */
function play(kind: string, schedules: number): Promise<{ isSound: boolean; output: string }> {
  const args = [...flags, program, "--kind", kind, "--schedules", `${schedules}`];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, output, errors) =>
      resolve({ isSound: error === null, output: `${output.trimEnd()}${errors}` }),
    );
  });
}

describe("lobbies under a hundred thousand random schedules", () => {
  it("keep every invariant, in small and large setups and with slices of shards", async (t) => {
    // Sequential, because a second process would have to compile the code too.
    for (const [kind, schedules] of [
      ["small", 100_000],
      ["large", 300],
      ["wide", 300],
    ] as const) {
      const { isSound, output } = await play(kind, schedules);
      t.diagnostic(output.split("\n")[0] ?? "");
      assert.ok(isSound, output.slice(-20_000));
    }
  });
});
