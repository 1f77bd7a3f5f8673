import {
  accessSync,
  chmodSync,
  constants,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onStopSignals } from "../../server/runtime/boot/signals.ts";
import { stopOrphan } from "../../server/runtime/stores/orphans.ts";
import { stopAll } from "./cleanup.ts";

const interruptedCode = 130;

/**
 * Runs a program that starts servers, with all temporary files in one folder that is removed at its end or
 * on a signal. Resolves to the exit code. `beforeStop` ends the work in order after a signal.
 */
export async function inOwnFolder(
  work: () => Promise<number>,
  beforeStop: () => Promise<unknown> = async () => undefined,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "ember-run-"));
  // Started by root, Postgres runs as another account and must enter the folder.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  let isInterrupted = false;
  const { first } = onStopSignals({
    first: () => {
      isInterrupted = true;
      // Connections of the work break now, which is expected.
      for (const event of ["unhandledRejection", "uncaughtException"]) process.on(event, () => {});
    },
    again: () => {
      killIn(folder);
      rmSync(folder, { recursive: true, force: true });
      process.exit(interruptedCode);
    },
  });
  const interrupted = first
    .then(beforeStop)
    .finally(stopAll)
    .then(() => interruptedCode);
  try {
    const worked = work().catch((error: unknown) => {
      if (isInterrupted) return interrupted;
      throw error;
    });
    return await Promise.race([worked, interrupted]);
  } finally {
    await removeWithServers(folder);
  }
}

/** The primary of a service first, since it would restart its stores. */
const pidFiles: [name: string, program: RegExp, signal: NodeJS.Signals][] = [
  ["primary.lock", /\bprimary\.[jt]s\b|server\/main/, "SIGINT"],
  ["{redis,postmaster}.pid", /redis-server|valkey-server|postgres/, "SIGINT"],
  ["forked-*.pid", /-process\.ts/, "SIGKILL"],
];

const killedMs = 5_000;
const pollMs = 50;

/**
 * Stores run in separate sessions and are found by their pid files. SIGINT stops a Postgres without waiting
 * for its clients. A server that was still starting has none yet, so what runs after them is killed.
 */
export async function removeWithServers(folder: string): Promise<void> {
  for (const [name, program, signal] of pidFiles)
    for (const file of globSync(`**/${name}`, { cwd: folder }))
      await stopOrphan(join(folder, file), program, signal);
  for (let waitedMs = 0; killIn(folder) > 0 && waitedMs < killedMs; waitedMs += pollMs)
    await pause(pollMs);
  rmSync(folder, { recursive: true, force: true });
}

/** Kills the processes in a folder; returns how many there were. */
function killIn(folder: string): number {
  const pids = processesIn(folder);
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended since.
    }
  return pids.length;
}

/** Other processes that work in the folder or have their temporary files in it. Only Linux shows them. */
export function processesIn(folder: string): number[] {
  const pids = process.platform === "linux" ? readdirSync("/proc").map(Number) : [];
  return pids.filter((pid) => pid > 0 && pid !== process.pid && isIn(folder, pid));
}

function isIn(folder: string, pid: number): boolean {
  try {
    if (`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)) return true;
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return environment.includes(`TMPDIR=${folder}`);
  } catch {
    // It has ended, or belongs to somebody else.
    return false;
  }
}

/**
 * Folder of temporary files: in memory if there is enough, since copying a database there is forty times
 * faster than on many disks.
 */
export function fastFolder(): string {
  const path = "/dev/shm";
  const neededBytes = 2 ** 30;
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= neededBytes ? path : tmpdir();
  } catch {
    return tmpdir();
  }
}
