import { readFileSync } from "node:fs";

/** Milliseconds per tick of `/proc`, constant on Linux. */
const tickSeconds = 0.01;

/** CPU seconds of this process and, on Linux, its ended children including theirs. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childTicks() * tickSeconds;
}

const secondsOfFiles = new Map<string, number>();
let counted = 0;

/** Call at the end of a file: it took the time since the previous call. */
export function recordFile(file: string): void {
  secondsOfFiles.set(file, processorSeconds() - counted);
  counted = processorSeconds();
}

/** Time of a file that has been recorded. */
export const secondsOfFile = (file: string): number | undefined => secondsOfFiles.get(file);

/** CPU time of this process since its start. */
export const describeTimes = (): string =>
  `${(performance.now() / 1000).toFixed(0)} s, ${processorSeconds().toFixed(0)} s of processor`;

function childTicks(): number {
  if (process.platform !== "linux") return 0;
  // The program name, in brackets, may contain spaces; cutime and cstime are fields 16 and 17.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[13]) + Number(fields[14]);
}
