import { readFileSync } from "node:fs";

/** Of one tick of `/proc`, in which Linux counts everywhere. */
const tickSeconds = 0.01;

/** Seconds of processor that this process took, and on Linux its children that have ended, with theirs. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childTicks() * tickSeconds;
}

/** Of this process since its start. */
export const describeTimes = (): string =>
  `${(performance.now() / 1000).toFixed(0)} s, ${processorSeconds().toFixed(0)} s of processor`;

function childTicks(): number {
  if (process.platform !== "linux") return 0;
  // The name of the program, in brackets, may hold blanks; cutime and cstime are fields 16 and 17.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[13]) + Number(fields[14]);
}
