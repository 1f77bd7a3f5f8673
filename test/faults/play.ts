import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sourceFlags } from "../support/programs.ts";

const program = fileURLToPath(new URL("./main.ts", import.meta.url));
const flags = [
  ...sourceFlags,
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  "--single-threaded-gc",
];

/**
 * Plays in a separate process, because node:test watches every promise of its own, which takes longer than
 * the schedules. Resolves to the output, which ends with the failing seed, if any.
 */
export function play(
  kind: string,
  schedules: number,
): Promise<{ isSound: boolean; output: string }> {
  const args = [...flags, program, "--kind", kind, "--schedules", `${schedules}`];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, output, errors) =>
      resolve({ isSound: error === null, output: `${output.trimEnd()}${errors}` }),
    );
  });
}
