import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { mixedBatches, shrinkingBatches } from "./support/batches.ts";
import { watchSilence } from "./support/silence.ts";

describe("the test runner", () => {
  const files = Array.from({ length: 123 }, (_, at) => `test/server/${at}.test.ts`);

  it("puts each file into one batch, and files that wait into the first", () => {
    const waiting = ["test/browser/play.test.ts", "test/server/http/idle-connections.test.ts"];
    const all = [...waiting, ...files];
    const batches = mixedBatches(all);
    assert.deepEqual(batches[0], waiting);
    assert.deepEqual(batches.flat().sort(), all.toSorted());
    assert.deepEqual(shrinkingBatches(files, 4, 3).flat(), files);
    const sizes = (count: number) =>
      shrinkingBatches(files.slice(0, count), 4, 10).map((one) => one.length);
    assert.deepEqual(
      [sizes(44), sizes(46)],
      [
        [11, 10, 10, 13],
        [11, 10, 10, 10, 5],
      ],
    );
    assert.deepEqual(mixedBatches([]), []);
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
