import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { acquireExclusive, lockDataDir } from "../../../../server/runtime/boot/lock.ts";
import { eventually } from "../../../support/eventually.ts";
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

/** Locks the folder until it is killed. */
const holder = `
  import { lockDataDir } from "./server/runtime/boot/lock.ts";
  lockDataDir(process.argv[1]);
  process.stdout.write(String(process.pid));
  setInterval(() => {}, 1_000);
`;

const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, "utf8");

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

  const isLinux = process.platform === "linux";
  it(
    "is void after its holder was killed, even if nobody has reaped it",
    { skip: !isLinux && "reads /proc" },
    async () => {
      // The second program takes the place of the parent of the first, and does not know about it.
      const script = `"${process.execPath}" ${sourceFlags.join(" ")} --input-type=module -e '${holder}' "$0" & exec sleep 60`;
      const parent = spawn("sh", ["-c", script, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
      try {
        const [line] = (await once(parent.stdout, "data")) as [Buffer];
        const pid = Number(line.toString());
        assert.deepEqual(acquireExclusive(dataDir), { pid });
        process.kill(pid, "SIGKILL");
        await eventually("it has ended", () => /State:\tZ/.test(statusOf(pid)));
        lockDataDir(dataDir).release();
      } finally {
        parent.kill("SIGKILL");
        await once(parent, "close");
      }
    },
  );
});
