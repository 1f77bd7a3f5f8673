import { fork, type ChildProcess } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sourceFlags } from "./programs.ts";
import { atEnd } from "./shared.ts";

const alive = new Set<ChildProcess>();
// A child left by a failed test would keep this process, and therefore the run, alive.
atEnd(async () => alive.forEach((child) => child.kill("SIGKILL")));

/**
 * A separate process for a test that may freeze it. It does not inherit the runner's output, because the
 * runner would wait for its end. The run finds it by its pid file if the test ended before it
 * (`removeWithServers`).
 */
export function forked(
  file: URL,
  args: string[],
  settings: Record<string, string> = {},
): ChildProcess {
  const env = { ...process.env, ...settings };
  const child = fork(file, args, { execArgv: [...sourceFlags], silent: true, env });
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const pidFile = join(tmpdir(), `forked-${child.pid}.pid`);
  rmSync(pidFile, { force: true });
  writeFileSync(pidFile, String(child.pid), { flag: "wx" });
  alive.add(child);
  child.once("exit", () => {
    alive.delete(child);
    rmSync(pidFile, { force: true });
  });
  return child;
}
