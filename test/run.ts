import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayStart, stopsAtEnd } from "./support/cleanup.ts";
import { fastFolder, inOwnFolder } from "./support/own-folder.ts";
import { describeTimes } from "./support/processor-time.ts";
import "./support/seed.ts";
import { shareTestStores } from "./support/stores.ts";

/**
 * `npm test` and `npm run test:deep`, `[-- files, folders and node:test flags]`: one Postgres for the whole run, three
 * processes at a time. All that is temporary lies in one folder, so that an interrupted run leaves nothing behind.
 */
/** Files that start services and browsers, which they share, and mostly wait: they begin. */
const isWaiting = /^test.(boot|browser|failover|play|survival)./;
const given = process.argv.slice(2);
const isDeep = given.includes("--deep");
const flags = [
  // The cores are busy: a collector that works beside them takes more than it gives.
  ...["--single-threaded-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
  // As in the service: what belongs to a request follows it without a hook on every promise.
  ...["--experimental-async-context-frame", "--disable-warning=ExperimentalWarning"],
  // Node reads TypeScript by itself in half the time that tsx takes to load the service.
  ...["--test", "--experimental-test-isolation=none"],
  // What hangs is a failure, and may leave something open that would keep its process; a slow machine is none.
  ...["--test-timeout=1800000", "--test-force-exit", "--test-reporter=./test/support/reporter.ts"],
  ...given.filter((arg) => arg.startsWith("-") && arg !== "--deep"),
];

Object.assign(process.env, { TMPDIR: fastFolder(), NODE_ENV: "test" });
process.exitCode = await inOwnFolder(runAll);

async function runAll(): Promise<number> {
  const named = given.filter((arg) => !arg.startsWith("-"));
  const files = (named.length > 0 ? named : ["test"]).flatMap(filesOf).sort();
  if (files.length === 0) throw new Error(`no test file of this kind in ${named.join(" ")}`);
  const failures = (process.env["TEST_FAILURES"] = join(tmpdir(), "failures"));
  const stopStores = await shareTestStores();
  const batches = share(files);
  const work = async (): Promise<boolean> => {
    const batch = batches.shift();
    return batch === undefined || [await runFiles(batch), await work()].every(Boolean);
  };
  const passed = await Promise.all(Array.from({ length: 3 }, work));
  await stopStores();
  process.stdout.write(`${files.length} files in ${describeTimes()}\n`);
  if (existsSync(failures)) process.stdout.write(`\nfailed:\n${readFileSync(failures, "utf8")}`);
  return passed.every(Boolean) ? 0 : 1;
}

/** A file that is named is run; of a folder, those of the kind that is asked for. */
function filesOf(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return globSync(path);
  return globSync(join(path, "**/*.test.ts")).filter((file) => file.includes(".deep.") === isDeep);
}

/** Ever smaller batches, so that all end together; not too small, since each process loads the service. */
function share(files: string[]): string[][] {
  // Node sums up the lines of one process and its children.
  if (given.includes("--experimental-test-coverage")) return [files];
  const rest = isDeep ? [...files] : files.filter((file) => !isWaiting.test(file));
  const waiting = files.filter((file) => !rest.includes(file));
  const batches = waiting.length > 0 ? [waiting] : [];
  const least = isDeep ? 3 : 32;
  while (rest.length > 0) batches.push(rest.splice(0, Math.max(least, rest.length / 4)));
  return batches;
}

async function runFiles(files: string[]): Promise<boolean> {
  mayStart();
  const child = spawn(process.execPath, [...flags, ...files], { stdio: "inherit" });
  const exited = once(child, "exit") as Promise<[code: number | null, signal: string | null]>;
  const stop = stopsAtEnd(async () => void (child.kill(), await exited));
  const [code, signal] = await exited;
  await stop();
  if (signal) process.stdout.write(`ended by ${signal}: ${files.join(" ")}\n`);
  return code === 0;
}
