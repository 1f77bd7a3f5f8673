import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** CPU time (user and system) these processes have used so far, in microseconds. Linux only. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timesOf(pid).own, 0);
}

/** CPU time a process and all that came of it, ended or not, have used so far, in microseconds. Linux only. */
export function treeMicros(root: number): number {
  const all = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          return [[Number(name), timesOf(Number(name))] as const];
        } catch {
          return []; // It has ended, and its parent counts it.
        }
      }),
  );
  const isBelow = (pid: number): boolean => {
    const parent = all.get(pid)?.parent;
    return pid === root || (parent !== undefined && isBelow(parent));
  };
  return [...all].reduce(
    (sum, [pid, { own, ended }]) => (isBelow(pid) ? sum + own + ended : sum),
    0,
  );
}

interface Times {
  parent: number;
  own: number;
  /** Of its children that ended, and theirs. */
  ended: number;
}

function timesOf(pid: number): Times {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command may hold spaces: the numbers start after its closing bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const micros = (first: number) =>
    ((Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond) * 1_000_000;
  return { parent: Number(fields[1]), own: micros(11), ended: micros(13) };
}

/** Resident memory of these processes in KiB. Linux only. */
export const residentKib = (pids: readonly number[]): number => sumOf(pids, /^VmRSS:\s+(\d+)/m);

/** The most resident memory these processes had so far, each at its own time, in KiB. Linux only. */
export const peakKib = (pids: readonly number[]): number => sumOf(pids, /^VmHWM:\s+(\d+)/m);

function sumOf(pids: readonly number[], line: RegExp): number {
  return pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(line.exec(status)?.[1] ?? 0);
  }, 0);
}

/** Files and sockets a process of this machine may have open. */
export function fileLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1024);
}
