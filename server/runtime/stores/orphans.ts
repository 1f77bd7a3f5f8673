import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 50;
const orderlyMs = 10_000;
const killedMs = 5_000;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** First line of a pid file, or null. */
export function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

/** The command line of a process, or null: pids are reused, so a pid file alone proves nothing. */
export function commandOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return process.platform === "linux" ? null : psCommandOf(pid);
  }
}

function psCommandOf(pid: number): string | null {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" });
  } catch {
    return null;
  }
}

/**
 * Stops the server named by the pid file of a killed parent, if its command line contains `program`, and
 * removes the file. The data folder is then free.
 */
export async function stopOrphan(
  file: string,
  program: RegExp,
  signal: NodeJS.Signals,
): Promise<void> {
  const pid = readPid(file);
  if (pid === null) return;
  if (isAlive(pid) && program.test(commandOf(pid) ?? "")) {
    process.kill(pid, signal);
    if (!(await isGone(pid, orderlyMs))) {
      process.kill(pid, "SIGKILL");
      await isGone(pid, killedMs);
    }
  }
  rmSync(file, { force: true });
}

async function isGone(pid: number, budgetMs: number): Promise<boolean> {
  for (let waited = 0; waited < budgetMs; waited += pollMs) {
    if (!isAlive(pid) || commandOf(pid) === "") return true;
    await sleep(pollMs);
  }
  return !isAlive(pid);
}
