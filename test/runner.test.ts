import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { filesOf, ordersOf, takeFile } from "./support/file-queue.ts";
import { watchSilence } from "./support/silence.ts";

describe("the test runner", () => {
  it("gives each file to one process, and files that wait to the first as long as there are others", () => {
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

  it("gives files that wait to all processes when no others are left", () => {
    const files = ["a", "b", "c"].map((name) => `test/browser/${name}.test.ts`);
    const [first, second] = ordersOf(files, 2);
    assert.deepEqual(first, files);
    assert.deepEqual(second, files.toReversed());
  });

  it("refuses a name without a test file, and takes a file once", () => {
    const [self, folder] = ["test/runner.test.ts", "test/spec"];
    assert.deepEqual(filesOf([self, self], false), [self]);
    assert.ok(filesOf([folder, self], false).includes(self));
    assert.throws(() => filesOf([self, "test/no-such.test.ts"], false), /no-such/);
  });

  it("fails and names a file that ends the process, throws late or is never loaded", async () => {
    const late = "setTimeout(() => { throw new Error('too late'); });";
    for (const [content, reported] of [
      ['it("ends", () => process.exit(0));', /✖ ended by process\.exit\(0\)/],
      [`it("passes", () => { ${late} }); it("waits", () => wait(50));`, /✖ .*too late/],
      ["await wait(60_000); it('passes', () => {});", /✖ the loading of .*one\.test\.ts/],
    ] as const) {
      const { code, output, failures } = await runFile(content);
      assert.equal(code, 1, output);
      assert.match(output, reported);
      assert.match(failures, reported);
    }
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

/** Runs a file in a process of its own, as the runner does. */
async function runFile(content: string) {
  const folder = mkdtempSync(join(tmpdir(), "ember-file-"));
  const file = join(folder, "one.test.ts");
  const imports =
    'import { it } from "node:test";\nimport { setTimeout as wait } from "node:timers/promises";';
  writeFileSync(file, `${imports}\n${content}\n`);
  const flags = ["--test", "--experimental-test-isolation=none", "--test-timeout=2000"];
  flags.push("--test-force-exit", "--test-reporter=./test/support/reporter.ts");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [...flags, "test/support/file-process.ts"], {
    env: { ...env, TEST_FILES: JSON.stringify([file]), TEST_RUN_FOLDER: folder },
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const failures = readFileSync(join(folder, "failures"), "utf8");
  rmSync(folder, { recursive: true });
  return { code: code as number | null, output, failures };
}
