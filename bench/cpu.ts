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

/** Resident memory of these processes in KiB. Linux only. */
export function residentKib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }, 0);
}

/** Files and sockets a process of this machine may have open. */
export function fileLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1024);
}
