import type { ChildProcess } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folderSetting = "TEST_RUN_FOLDER";
const longestNoticeMs = 30_000;
const loading = "the loading of its files";

const fileOf = (folder: string, pid: number | undefined) => join(folder, `begun-${pid}`);

/**
 * In a process of the run: records the name of the test that began last, which a silent process cannot
 * report.
 */
export function recordLastStarted(name: string): void {
  const folder = process.env[folderSetting];
  if (folder) writeFileSync(fileOf(folder, process.pid), name);
}

/**
 * Prints the last started test of a process that starts no other, first after 30 s. Kills the process after
 * twice the time limit of a test, because a timer does not end an endless loop.
 */
export function watchSilence(
  child: ChildProcess,
  testLimitMs: number,
  print: (line: string) => unknown = (line) => process.stdout.write(line),
): () => void {
  const folder = String(process.env[folderSetting]);
  const started = { at: Date.now(), name: loading };
  const noticeMs = Math.min(longestNoticeMs, testLimitMs / 2);
  let noticed = 0;
  const timer = setInterval(() => {
    const { at, name } = readLastBegun(fileOf(folder, child.pid)) ?? started;
    const notices = Math.floor((Date.now() - at) / noticeMs);
    if (notices > noticed) print(`… ${((notices * noticeMs) / 1000).toFixed(0)} s in ${name}\n`);
    noticed = notices;
    if (Date.now() - at >= 2 * testLimitMs) child.kill("SIGKILL");
  }, noticeMs / 6);
  return () => clearInterval(timer);
}

/** Name of the last started test of a process of the run. */
export function lastStarted(pid: number | undefined): string {
  return readLastBegun(fileOf(String(process.env[folderSetting]), pid))?.name ?? loading;
}

function readLastBegun(path: string): { at: number; name: string } | null {
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return at === undefined ? null : { at, name: readFileSync(path, "utf8") };
}
