import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { publishNodeDown } from "../../server/runtime/boot/node-down-notice.ts";
import { watchExit } from "../../server/runtime/boot/exit-detection.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";

describe("the death of a process", () => {
  for (const failing of ["zrem", "publish"])
    it(`is told in the other way when ${failing} fails`, async () => {
      const told: string[] = [];
      const tell = async (way: string) => {
        if (way === failing) throw new Error("CLUSTERDOWN");
        told.push(way);
      };
      const redis = { zrem: () => tell("zrem"), publish: () => tell("publish") };
      await publishNodeDown(redis as never, "w1", silentLogger);
      assert.deepEqual(told, [failing === "zrem" ? "publish" : "zrem"]);
    });

  it("is seen before its memory is given back", async () => {
    for (let i = 0; i < maxTries; i++) {
      const [first] = await signsOfDeath();
      if (first === "dying") return;
    }
    assert.fail("the exit was always seen first");
  });

  it("is seen once, and not after the watch has ended", async () => {
    assert.deepEqual((await signsOfDeath()).toSorted(), ["dying", "exit"]);
    assert.deepEqual(await signsOfDeath(true), ["exit"]);
  });
});

/** The system is faster now and then. */
const maxTries = 10;
/** To give back so much takes several looks. */
const fill = "globalThis.held = Buffer.alloc(4e8, 1); console.log(1); setInterval(() => {}, 1e6)";

/** What is seen of the death of a large process, in order. */
async function signsOfDeath(isEnded = false): Promise<string[]> {
  const child = spawn(process.execPath, ["-e", fill], { stdio: ["ignore", "pipe", "inherit"] });
  const signs: string[] = [];
  await once(child.stdout, "data");
  const dying = new Promise<void>((resolve) => {
    const stop = watchExit(child.pid ?? 0, () => {
      signs.push("dying");
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
  await Promise.all([exit, dying]);
  clearInterval(alive);
  return signs;
}
