import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** CPU time (user and system) these processes have used so far, in microseconds. Linux only. */
export function cpuMicros(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command may hold spaces: the numbers start after its closing bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks / ticksPerSecond) * 1_000_000;
}
