import { execFile } from "node:child_process";
import { sourceFlags } from "../support/programs.ts";

export interface Ended {
  code: number;
  output: string;
}

/** Runs `npm run bench -- <args>` to its end. */
export function runBenchCommand(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...sourceFlags, "bench/main.ts", ...args],
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}
