import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { mayStart, stopsAtEnd } from "./support/cleanup.ts";
import { fastFolder, inOwnFolder } from "./support/own-folder.ts";
import { findTestRedis, startTestPostgres } from "./support/stores.ts";

/**
 * `npm test` and `npm run test:deep`, `[-- files, folders and node:test flags]`: one Postgres for the whole run, three
 * processes at a time. All that is temporary lies in one folder, so that an interrupted run leaves nothing behind.
 */
const processes = 3;
/** Loading the service takes a process as long as a few files need. */
const leastFiles = 16;
/** Folders of files that start services and browsers, which they share, and mostly wait: they begin. */
const waiting = ["boot", "browser", "failover", "play", "simulation", "survival"];
const flags = [
  // The cores are busy: a collector that works beside them takes more than it gives.
  ...["--single-threaded-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
  // As in the service: what belongs to a request follows it without a hook on every promise.
  ...["--experimental-async-context-frame", "--disable-warning=ExperimentalWarning"],
  // Node reads TypeScript by itself in half the time that tsx takes to load the service.
  ...["--test", "--experimental-test-isolation=none"],
  // What hangs is a failure, and may leave something open that would keep its process; a slow machine is none.
  ...["--test-timeout=1800000", "--test-force-exit", "--test-reporter=./test/support/reporter.ts"],
];

const given = process.argv.slice(2);
const isDeep = given.includes("--deep");
Object.assign(process.env, { TMPDIR: fastFolder(), NODE_ENV: "test" });
process.exitCode = await inOwnFolder(runAll);

async function runAll(): Promise<number> {
  const named = given.filter((arg) => !arg.startsWith("-"));
  const files = (named.length > 0 ? named : ["test"]).flatMap(filesOf).sort();
  if (files.length === 0) throw new Error(`no test file of this kind in ${named.join(" ")}`);
  const failures = (process.env["TEST_FAILURES"] = join(tmpdir(), "failures"));
  await findTestRedis();
  const postgres = await startTestPostgres();
  process.env["TEST_DATABASE_URL"] = postgres.url;
  const batches = share(files);
  const work = async (): Promise<boolean> => {
    const batch = batches.shift();
    return batch === undefined || [await runFiles(batch), await work()].every(Boolean);
  };
  const passed = await Promise.all(Array.from({ length: processes }, work));
  await postgres.stop();
  if (existsSync(failures)) process.stdout.write(`\nfailed:\n${readFileSync(failures, "utf8")}`);
  return passed.every(Boolean) ? 0 : 1;
}

/** A file that is named is run; of a folder, those of the kind that is asked for. */
function filesOf(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return globSync(path);
  return globSync(join(path, "**/*.test.ts")).filter(
    (file) => /\.deep\.test/.test(file) === isDeep,
  );
}

/** Ever smaller batches, so that all processes end together. */
function share(files: string[]): string[][] {
  // Node sums up the lines of one process and its children.
  if (given.includes("--experimental-test-coverage")) return [files];
  const partOf = (file: string) => waiting.indexOf(file.split(sep)[1] ?? "");
  const parts = Map.groupBy(files, partOf);
  const rest = parts.get(-1) ?? [];
  const batches = [...parts].filter(([part]) => part >= 0).map(([, part]) => part);
  while (rest.length > 0)
    batches.push(rest.splice(0, Math.max(leastFiles, Math.ceil(rest.length / (processes + 1)))));
  return batches;
}

async function runFiles(files: string[]): Promise<boolean> {
  mayStart();
  const more = given.filter((arg) => arg.startsWith("-") && arg !== "--deep");
  const child = spawn(process.execPath, [...flags, ...more, ...files], { stdio: "inherit" });
  const exited = once(child, "exit") as Promise<[code: number | null, signal: string | null]>;
  const stop = stopsAtEnd(async () => void (child.kill(), await exited));
  const [code, signal] = await exited;
  await stop();
  if (signal) process.stdout.write(`ended by ${signal}: ${files.join(" ")}\n`);
  return code === 0;
}
