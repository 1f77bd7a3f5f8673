import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayStart, stopsAtEnd } from "../test/support/cleanup.ts";

export const hasStrace = (): boolean =>
  spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;

/**
 * Runs `work` while strace counts the system calls of all threads of these processes, which slows it down;
 * null if tracing is not permitted.
 */
export async function countSystemCalls<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<[T, Record<string, number> | null]> {
  const folder = mkdtempSync(join(tmpdir(), "ember-strace-"));
  const file = join(folder, "summary");
  const trace = await attach(pids, file);
  try {
    const result = await work();
    await trace?.detach();
    return [result, trace ? parseSummary(readFileSync(file, "utf8")) : null];
  } finally {
    await trace?.detach();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when the first process is traced. */
async function attach(pids: readonly number[], file: string) {
  mayStart();
  const targets = pids.flatMap((pid) => ["-p", String(pid)]);
  const strace = spawn("strace", ["-c", "-f", "-o", file, ...targets], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(strace, "close");
  const detach = stopsAtEnd(async () => {
    strace.kill("SIGINT");
    await closed;
  });
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.on("data", (lines: Buffer) => {
      if (/attached/.test(lines.toString())) resolve(true);
    });
    strace.once("close", () => resolve(false));
  });
  return (await attached) ? { detach } : null;
}

/** Parses the table of `strace -c`: calls by name; the column of errors is usually empty. */
export function parseSummary(summary: string): Record<string, number> {
  const rows = summary.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +([a-z]\w*)$/gm);
  return Object.fromEntries(
    [...rows]
      .filter(([, , name]) => name !== "total")
      .map(([, count, name = ""]) => [name, Number(count)]),
  );
}
