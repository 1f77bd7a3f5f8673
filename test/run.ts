import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  constants,
  globSync,
  mkdtempSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { silentLogger } from "../server/core/logger.ts";
import { cacheFolder } from "../server/local/cache-folder.ts";
import { findRedisProgram } from "../server/local/redis-program.ts";
import { removeWithServers } from "./support/own-folder.ts";

/**
 * `npm test [-- files, folders and node:test flags]`: one Postgres for the whole run, three processes at a
 * time. Everything temporary lives in one folder, so that an interrupted run leaves nothing behind.
 */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** At once: three keep two cores busy. */
const processes = 3;
/** Files one process runs: loading the service takes it as long as many a file needs. */
const mostFiles = 20;
const leastFiles = 9;
/** What hangs is a failure; a slow machine is none. */
const fileTimeoutMs = 1_800_000;
/** They start the whole service, browsers or long programs, and mostly wait: a process for each part. */
const longParts = ["boot", "browser", "failover", "play", "simulation", "survival", "workers"];
const folder = mkdtempSync(join(roomInMemory() ?? tmpdir(), "ember-"));
chmodSync(folder, 0o755);
process.env["TMPDIR"] = folder;

const support = new URL("./support/batch.ts", import.meta.url);
const strict = new URL("./support/strict-reporter.ts", import.meta.url).href;
const nodeGuard = new URL("../server/core/node-guard.mjs", import.meta.url).href;

const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith("-"));
const patterns = args.filter((arg) => !arg.startsWith("-")).map(insideFolder);
const files = globSync(patterns.length > 0 ? patterns : ["test/**/*.test.ts"]).sort();

process.exitCode = await runAll().finally(() => removeWithServers(folder));

function insideFolder(pattern: string): string {
  const isFolder = statSync(pattern, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? join(pattern, "**/*.test.ts") : pattern;
}

async function runAll(): Promise<number> {
  if (files.length === 0) {
    process.stderr.write(`no test file matches ${patterns.join(" ") || "test/**/*.test.ts"}\n`);
    return 1;
  }
  let isInterrupted = false;
  for (const signal of signals) process.on(signal, () => (isInterrupted = true));
  const { startTestPostgres } = await import("./support/stores.ts");
  // Where the machine has no Redis, one is unpacked once, before two files at a time ask for it.
  await findRedisProgram(cacheFolder("", folder), silentLogger);
  const postgres = await startTestPostgres();
  try {
    return isInterrupted ? 130 : await runTests(postgres.url);
  } finally {
    await postgres.stop();
  }
}

async function runTests(databaseUrl: string): Promise<number> {
  const runner = spawn(
    process.execPath,
    [
      // The cores are busy: a collector that works beside them takes more than it gives.
      "--single-threaded-gc",
      "--min-semi-space-size=64",
      "--max-semi-space-size=64",
      // As in the service: what belongs to a request follows it without a hook on every promise.
      "--experimental-async-context-frame",
      "--disable-warning=ExperimentalWarning",
      // As in the service, too: another loader would look into every module of every package again.
      "--import",
      nodeGuard,
      "--test",
      `--test-concurrency=${processes}`,
      `--test-timeout=${fileTimeoutMs}`,
      // Says again at the end what has failed.
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${strict}`,
      "--test-reporter-destination=stderr",
      ...flags,
      ...batches(files),
    ],
    { stdio: "inherit", env: { ...process.env, TEST_DATABASE_URL: databaseUrl, NODE_ENV: "test" } },
  );
  for (const signal of signals) process.on(signal, () => runner.kill(signal));
  const [code] = (await once(runner, "exit")) as [number | null];
  return code ?? 130;
}

/**
 * One entry file for several test files, which run one after another. The many short ones come last, in
 * ever smaller batches, so that all processes end at about the same time.
 */
function batches(all: readonly string[]): string[] {
  const partOf = (file: string) => file.split(sep)[1] ?? "";
  const isLong = (file: string) => longParts.includes(partOf(file));
  const short = all.filter((file) => !isLong(file));
  const chunks = Object.values(Object.groupBy(all.filter(isLong), partOf)).filter(
    (chunk) => chunk !== undefined,
  );
  while (short.length > 0) {
    const share = Math.ceil(short.length / (processes + 1));
    chunks.push(short.splice(0, Math.min(mostFiles, Math.max(leastFiles, share))));
  }
  return chunks.map((chunk, n) => {
    const entry = join(folder, `batch-${String(n).padStart(3, "0")}.test.mjs`);
    const urls = chunk.map((file) => [file, pathToFileURL(resolve(file)).href]);
    writeFileSync(
      entry,
      `import { runFiles } from ${JSON.stringify(support)};\nawait runFiles(${JSON.stringify(Object.fromEntries(urls))});\n`,
    );
    return entry;
  });
}

/** Copies a database forty times faster than many a disk; null where there is none, or a small one. */
function roomInMemory(): string | null {
  const path = "/dev/shm";
  const neededBytes = 2 ** 30;
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= neededBytes ? path : null;
  } catch {
    return null;
  }
}
