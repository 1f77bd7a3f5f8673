import { readFileSync } from "node:fs";

/** Milliseconds per tick of `/proc`, constant on Linux. */
const tickSeconds = 0.01;

/** CPU seconds of this process and, on Linux, its ended children including theirs. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childTicks() * tickSeconds;
}

/** CPU time of this process since its start. */
export const describeTimes = (): string =>
  `${(performance.now() / 1000).toFixed(0)} s, ${processorSeconds().toFixed(0)} s of processor`;

function childTicks(): number {
  if (process.platform !== "linux") return 0;
  // The program name, in brackets, may contain spaces; cutime and cstime are fields 16 and 17.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[13]) + Number(fields[14]);
}
