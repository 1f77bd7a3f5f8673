import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { builtProgram } from "../../support/programs.ts";

/** Lets this Node pass for another one; what only a newer Node parses is beyond that. */
const version = "20.20.2";
const older = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}",modules:"115"}})`;

describe("on a Node that is too old", () => {
  for (const program of ["primary", "console"])
    it(`the program ${program} ends with one line`, () => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["--import", older, ...builtProgram(program), "help"],
        { encoding: "utf8" },
      );
      assert.deepEqual([status, stdout], [1, ""]);
      assert.match(
        stderr,
        new RegExp(`^Node 22\\.18 or newer is needed, this is ${version};.*\\n$`),
      );
    });
});
