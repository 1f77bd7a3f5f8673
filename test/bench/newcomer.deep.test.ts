import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { describe, it } from "node:test";
import { goAll } from "../../bench/newcomer.ts";
import { temporaryDataDir } from "../support/process.ts";
import { runBenchOn } from "./command.ts";

describe("npm run bench -- newcomer", () => {
  it("comes from a clone to the end of a game, and leaves nothing behind", async () => {
    const folder = temporaryDataDir();
    try {
      const { code, output } = await runBenchOn(["env", `TMPDIR=${folder}`], "newcomer");
      assert.equal(code, 0, output);
      for (const part of ["git clone", "npm ci", "npm start", "first game", "in all"])
        assert.match(output, new RegExp(`^\\| ${part} +\\| \\d+\\.\\d `, "m"));
      assert.deepEqual(readdirSync(folder), []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("names the part that is not over in its time, and goes no further", async () => {
    const clone = { name: "git clone", mostSeconds: 1, run: async () => undefined };
    const install = { name: "npm ci", mostSeconds: 0.01, run: () => new Promise(() => undefined) };
    const { rows, problem } = await goAll([clone, install, clone]);
    assert.deepEqual(
      rows.map(([name]) => name),
      ["git clone"],
    );
    assert.equal(problem, 'the end of "npm ci" did not come within 0.01 s');
  });
});
