import { execFile } from "node:child_process";
import { sourceFlags } from "../support/programs.ts";

export interface Ended {
  code: number;
  output: string;
}

/** Runs `npm run bench -- <args>` to its end. */
export const runBenchCommand = (...args: string[]): Promise<Ended> => runBenchOn([], ...args);

/** The same behind words such as those that enter a network namespace. */
export function runBenchOn(prefix: readonly string[], ...args: string[]): Promise<Ended> {
  const [command, ...words] = [...prefix, process.execPath, ...sourceFlags, "bench/main.ts"];
  return new Promise((resolve) => {
    const child = execFile(command, [...words, ...args], (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}
