import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ordersOf, takeFile } from "./support/file-queue.ts";
import { watchSilence } from "./support/silence.ts";

describe("the test runner", () => {
  it("gives each file to one process, and files that wait to the first", () => {
    const folder = mkdtempSync(join(tmpdir(), "ember-queue-"));
    const waiting = ["test/browser/play.test.ts", "test/server/http/idle-connections.test.ts"];
    const files = Array.from({ length: 20 }, (_, at) => `test/server/${at}.test.ts`);
    const orders = ordersOf([...files, ...waiting], 3);
    const taken: string[][] = [[], [], []];
    for (let round = 0; round < files.length + waiting.length; round++)
      for (const [at, order] of orders.entries()) {
        const file = takeFile(order, folder);
        if (file !== null) taken[at]?.push(file);
      }
    rmSync(folder, { recursive: true });
    assert.deepEqual(taken[0]?.slice(0, 2), waiting);
    assert.deepEqual(taken.flat().sort(), [...waiting, ...files].sort());
    assert.deepEqual(
      taken.map((one) => one.length),
      [8, 7, 7],
    );
  });

  it("reports where a process is silent, and kills a process in an endless loop", async () => {
    const child = spawn(process.execPath, ["-e", "for (;;);"]);
    const exited = once(child, "exit");
    const printed: string[] = [];
    const stopWatching = watchSilence(child, 1_000, (line) => printed.push(line));
    const [, signal] = await exited;
    stopWatching();
    assert.equal(signal, "SIGKILL");
    assert.match(printed[0] ?? "", /^… \d+ s in the loading of its files\n$/);
  });
});
