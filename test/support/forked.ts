import { fork, type ChildProcess } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFlags } from "../../server/core/node-flags.ts";

/**
 * A process of its own for a test that may freeze it. It has not the runner's output, whose end the runner would wait
 * for; and its pid file is how the run finds it when the test ended before it did (`removeWithServers`).
 */
export function forked(file: URL, args: string[]): ChildProcess {
  const child = fork(file, args, { execArgv: nodeFlags, silent: true });
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const pidFile = join(tmpdir(), `forked-${child.pid}.pid`);
  writeFileSync(pidFile, String(child.pid));
  child.once("exit", () => rmSync(pidFile, { force: true }));
  return child;
}
