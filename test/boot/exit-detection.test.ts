import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { watchExit } from "../../server/runtime/boot/exit-detection.ts";

describe("the exit of a process", () => {
  it("is detected before its memory is released", async () => {
    for (let i = 0; i < maxTries; i++) {
      const [first] = await signsOfExit();
      if (first === "exiting") return;
    }
    assert.fail("the exit was always seen first");
  });

  it("is detected once, and not after the watch has ended", async () => {
    assert.deepEqual((await signsOfExit()).toSorted(), ["exit", "exiting"]);
    assert.deepEqual(await signsOfExit(true), ["exit"]);
  });
});

/** The system is sometimes faster. */
const maxTries = 10;
/** Releasing this much memory takes several polls. */
const fill = "globalThis.held = Buffer.alloc(4e8, 1); console.log(1); setInterval(() => {}, 1e6)";

/** The observed events of the exit of a killed large process, in order. */
async function signsOfExit(isEnded = false): Promise<string[]> {
  const child = spawn(process.execPath, ["-e", fill], { stdio: ["ignore", "pipe", "inherit"] });
  const signs: string[] = [];
  await once(child.stdout, "data");
  const exiting = new Promise<void>((resolve) => {
    const stop = watchExit(child.pid ?? 0, () => {
      signs.push("exiting");
      resolve();
    });
    if (!isEnded) return;
    stop();
    resolve();
  });
  const exit = once(child, "exit").then(() => signs.push("exit"));
  child.kill("SIGKILL");
  // The watch keeps no process alive, and this one has nothing else to do once the child is gone.
  const alive = setInterval(() => {}, 1_000);
  await Promise.all([exit, exiting]);
  clearInterval(alive);
  return signs;
}
