import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pino } from "pino";
import {
  droppedLogBytes,
  openLogOutput,
  type LogOutput,
} from "../../../../server/platform/log/log-output.ts";
import { sourceFlags } from "../../../support/programs.ts";
import { logSecurity } from "../../../../server/platform/log/security-log.ts";
import { eventually } from "../../../support/eventually.ts";
import { fc } from "../../../support/seed.ts";

/** The file content after writing these lines to an output. */
async function inFile(
  work: (lines: LogOutput, read: () => string) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "ember-log-"));
  try {
    const file = join(dir, "log");
    await work(openLogOutput(openSync(file, "w")), () => readFileSync(file, "utf8"));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe("the log output", () => {
  it("writes every line once and in order, whatever its length and characters", async () => {
    const line = fc.record({
      length: fc.integer({ min: 1, max: 20_000 }),
      unit: fc.constantFrom("a", "é", "漢", "😀"),
    });
    await inFile(async (lines, read) => {
      let all = "";
      const some = fc.array(line, { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(some, async (given) => {
          for (const [i, { length, unit }] of given.entries()) {
            const text = `${i}${unit.repeat(length)}\n`;
            lines.write(text);
            all += text;
          }
          await new Promise<unknown>((done) => lines.flush(done));
          assert.ok(read() === all);
        }),
        { numRuns: 30 },
      );
    });
  });

  it("delays no line until the next one", () =>
    inFile(async (lines, read) => {
      lines.write("alone\n");
      await eventually("the line is there", () => Promise.resolve(read() === "alone\n"));
    }));

  it("reports when everything is written", () =>
    inFile(async (lines, read) => {
      await new Promise<unknown>((done) => lines.flush(done));
      for (const text of ["one\n", "two\n"]) {
        lines.write(text);
        await new Promise<unknown>((done) => lines.flush(done));
        assert.ok(read().endsWith(text));
      }
    }));

  it("writes security events of an account immediately", () => {
    const handed: string[] = [];
    const write = (line: string) => void handed.push((JSON.parse(line) as { msg: string }).msg);
    const output = { write, flush: () => handed.push("flush") };
    const log = pino({}, output);
    log.info("before");
    logSecurity({ log }, "key_created", { player: 1, key: 2 });
    assert.deepEqual(handed, ["before", "security event", "flush"]);
  });

  it("drops lines beyond its limit while nobody reads them, and continues afterwards", async () => {
    const dir = mkdtempSync(join(tmpdir(), "ember-log-"));
    try {
      const path = join(dir, "pipe");
      execFileSync("mkfifo", [path]);
      // Both ends are open, so that neither open nor write waits for another process.
      const fd = openSync(path, constants.O_RDWR);
      const lines = openLogOutput(fd, 256 * 1024);
      const before = droppedLogBytes();
      const line = (n: number) => `${JSON.stringify({ n, padding: "x".repeat(1000) })}\n`;
      let given = 0;
      for (let n = 0; n < 2_000; n++) {
        lines.write(line(n));
        given += line(n).length;
      }
      lines.send();
      const dropped = droppedLogBytes() - before;
      assert.ok(dropped > 1_000_000, `${dropped} bytes were dropped`);

      // A separate process, since reading an empty pipe blocks.
      const reader = spawn("cat", [path], { stdio: ["ignore", "pipe", "inherit"] });
      let text = "";
      for await (const chunk of reader.stdout) {
        text += String(chunk);
        if (text.length === given - dropped) {
          lines.write('{"n":"after"}\n');
          lines.send();
        }
        if (text.endsWith('"after"}\n')) break;
      }
      reader.kill();
      const numbers = text
        .trimEnd()
        .split("\n")
        .map((one) => (JSON.parse(one) as { n: unknown }).n);
      assert.equal(text.length, given - dropped + '{"n":"after"}\n'.length);
      assert.deepEqual(
        numbers.slice(0, 200),
        Array.from({ length: 200 }, (_, n) => n),
      );
      assert.equal(droppedLogBytes() - before, dropped);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("does not keep a process from ending when nobody reads its lines", async () => {
    const logger = new URL("../../../../server/platform/log/logger.ts", import.meta.url).href;
    const program = `
      const { createLogger, flushLog } = await import(${JSON.stringify(logger)});
      const log = createLogger({ LOG_LEVEL: "info", APP_ENV: "test" }, "test");
      for (let n = 0; n < 1_000; n++) log.info("x".repeat(1_000));
      await flushLog(log, 100);
      process.exit(7);`;
    const child = spawn(
      process.execPath,
      [...sourceFlags, "--input-type=module", "--eval", program],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [code] = (await once(child, "exit", { signal: AbortSignal.timeout(30_000) })) as [number];
    assert.equal(code, 7);
    child.stdout.destroy();
  });
});
