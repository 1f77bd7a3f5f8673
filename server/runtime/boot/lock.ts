import { execFileSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "../stores/folders.ts";
import { commandOf, isAlive } from "../stores/orphans.ts";
import { StartError } from "./start-error.ts";

/** Never writes through a link planted by another user. */
const newFile = { flag: "wx" } as const;

/** The data folder cannot be made or written. */
export class UnwritableDataDir extends StartError {}

/** Freed by `release`; the lock of a dead process is void. */
export interface DataDirLock {
  release(): void;
}

/** Creates the folder and locks it for this process. Throws StartError with the problem. */
export function lockDataDir(dataDir: string): DataDirLock {
  const taken = acquireExclusive(dataDir);
  if ("release" in taken) return taken;
  const { pid } = taken;
  throw new StartError(
    `DATA_DIR ${dataDir} is in use by process ${pid}; stop it (kill ${pid}) or set another DATA_DIR`,
  );
}

/** Like `lockDataDir`, but returns the pid of the running process that holds the lock instead of refusing. */
export function acquireExclusive(dataDir: string): DataDirLock | { pid: number } {
  const file = join(dataDir, "primary.lock");
  const mine = `${process.pid} ${startOf(process.pid)}`;
  for (;;) {
    const holder = readLock(file);
    if (holder !== null && isRunning(holder)) return { pid: Number.parseInt(holder, 10) };
    if (holder !== null) discard(file, holder);
    makeWritable(dataDir);
    if (tryCreate(file, mine)) break;
  }
  return {
    release: () => {
      if (readLock(file) === mine) rmSync(file, { force: true });
    },
  };
}

function makeWritable(dataDir: string): void {
  try {
    makeFolder(resolve(dataDir));
    const probe = join(dataDir, `.probe-${process.pid}`);
    rmSync(probe, { force: true });
    writeFileSync(probe, "", newFile);
    rmSync(probe);
  } catch (error) {
    throw unwritable(dataDir, error);
  }
}

function unwritable(dataDir: string, error: unknown): UnwritableDataDir {
  const reason = error instanceof Error ? error.message : String(error);
  return new UnwritableDataDir(
    `DATA_DIR ${dataDir} is not writable: ${reason}; set DATA_DIR to another folder`,
  );
}

/** Linked once complete, so that a concurrent start never reads half of it and takes it for stale. */
function tryCreate(file: string, content: string): boolean {
  const whole = `${file}.${process.pid}.new`;
  rmSync(whole, { force: true });
  writeFileSync(whole, content, newFile);
  try {
    linkSync(whole, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw unwritable(dirname(file), error);
  } finally {
    rmSync(whole, { force: true });
  }
}

/** Null if there is none, for example because its holder has just released it. */
function readLock(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Renamed before it is removed: of two concurrent starts only one gets the stale file. */
function discard(file: string, stale: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readLock(aside);
  rmSync(aside, { force: true });
  if (moved !== null && moved !== stale) tryCreate(file, moved);
}

/** Pids are reused, in containers quickly: the start time distinguishes processes with the same pid. */
function isRunning(holder: string): boolean {
  const [pidText = "", ...start] = holder.split(" ");
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return false;
  // A killed process that its parent has not reaped yet has a pid and a start time, but no command line.
  return startOf(pid) === start.join(" ") && commandOf(pid) !== "";
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}/${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`;
  } catch {
    return psStartOf(pid);
  }
}

function psStartOf(pid: number): string {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", "lstart="], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
