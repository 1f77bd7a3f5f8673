import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { sourceFlags } from "../../../support/programs.ts";

const programs = 4;
const rounds = 300;

/** Locks and releases the folder many times; a second holder would find the file of the first. */
const contender = `
  import { rmSync, writeFileSync } from "node:fs";
  import { acquireExclusive } from "./server/runtime/boot/lock.ts";
  const [dir] = process.argv.slice(1);
  for (let taken = 0; taken < ${rounds}; ) {
    const lock = acquireExclusive(dir);
    if (!("release" in lock)) continue;
    taken++;
    writeFileSync(dir + "/held", "", { flag: "wx" });
    rmSync(dir + "/held");
    lock.release();
  }
`;

describe("the lock of DATA_DIR", () => {
  let dataDir: string;
  before(() => {
    dataDir = mkdtempSync(join(tmpdir(), "ember-lock-"));
  });
  after(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  const race = async () => {
    const child = spawn(
      process.execPath,
      [...sourceFlags, "--input-type=module", "-e", contender, dataDir],
      { stdio: ["ignore", "ignore", "pipe"], timeout: 60_000 },
    );
    const [problems, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    return { problems, code: code as number };
  };

  it("has one holder at a time, however many processes start at once", async () => {
    writeFileSync(join(dataDir, "primary.lock"), "999999999 of a killed service");
    const ends = await Promise.all(Array.from({ length: programs }, race));
    for (const end of ends) assert.deepEqual(end, { problems: "", code: 0 });
  });
});
