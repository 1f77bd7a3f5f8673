import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayStart, stopsAtEnd } from "./support/cleanup.ts";
import { filesOf, ordersOf, takeFile } from "./support/file-queue.ts";
import { nodeFlags } from "./support/node-flags.ts";
import { fastFolder, inOwnFolder } from "./support/own-folder.ts";
import { describeTimes } from "./support/processor-time.ts";
import "./support/seed.ts";
import { lastStarted, watchSilence } from "./support/silence.ts";
import { shareTestStores } from "./support/stores.ts";

/**
 * `npm test` and `npm run test:deep`, `[-- files, folders and node:test flags]`: one Postgres for the whole
 * run, three processes at a time. All temporary files are in one folder, so that an interrupted run leaves
 * nothing behind.
 */
const given = process.argv.slice(2);
const isDeep = given.includes("--deep");
/** Node merges the coverage of one process only, and a pattern would leave out what loads the files. */
const isUnshared = given.some((arg) =>
  /^--(experimental-test-coverage|test-(name|only|skip))/.test(arg),
);
/** A test that hangs is a failure; a deep one may take minutes, and a machine may be slow. */
const testLimitMs = isDeep || given.some((arg) => arg.includes(".deep.")) ? 600_000 : 120_000;
const flags = nodeFlags(given, testLimitMs);
/** A process in an endless loop does not react to SIGTERM. */
const stopMs = 5_000;

Object.assign(process.env, { TMPDIR: fastFolder(), NODE_ENV: "test" });
process.exitCode = await inOwnFolder(runAll);

async function runAll(): Promise<number> {
  const named = given.filter((arg) => !arg.startsWith("-"));
  const files = filesOf(named.length > 0 ? named : ["test"], isDeep);
  process.env["TEST_RUN_FOLDER"] = tmpdir();
  const stopStores = await shareTestStores();
  const passed = await Promise.all(
    isUnshared
      ? [runProcess(files)]
      : ordersOf(files, 3).map((order) =>
          runProcess(["test/support/file-process.ts"], { TEST_FILES: JSON.stringify(order) }),
        ),
  );
  await stopStores();
  // A process that has ended early leaves the files that only it may take.
  const left = isUnshared ? [] : files.filter((file) => takeFile([file], tmpdir()) !== null);
  if (left.length > 0) appendFileSync(failuresPath(), `✖ not run: ${left.join(", ")}\n`);
  process.stdout.write(`${files.length} files in ${describeTimes()}\n`);
  const failures = failuresPath();
  if (existsSync(failures)) process.stdout.write(`\nfailed:\n${readFileSync(failures, "utf8")}`);
  return passed.every(Boolean) && left.length === 0 ? 0 : 1;
}

function failuresPath(): string {
  return join(tmpdir(), "failures");
}

async function runProcess(files: string[], env = {}): Promise<boolean> {
  mayStart();
  const child = spawn(process.execPath, [...flags, ...files], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const exited = once(child, "exit") as Promise<[code: number | null, signal: string | null]>;
  const stop = stopsAtEnd(async () => {
    child.kill();
    const hanging = setTimeout(() => child.kill("SIGKILL"), stopMs);
    await exited;
    clearTimeout(hanging);
  });
  const stopWatching = watchSilence(child, testLimitMs);
  const [code, signal] = await exited;
  stopWatching();
  await stop();
  if (signal) {
    const line = `✖ ended by ${signal} in ${lastStarted(child.pid)}\n`;
    process.stdout.write(line);
    appendFileSync(failuresPath(), line);
  }
  return code === 0;
}
