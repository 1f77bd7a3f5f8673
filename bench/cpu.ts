import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** CPU time (user and system) of these processes so far, in microseconds. Linux only. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timesOf(pid).own, 0);
}

/** CPU time of a process and all its descendants, including ended ones, in microseconds. Linux only. */
export function treeMicros(root: number): number {
  return [...treeTimes(root).values()].reduce((sum, { own, ended }) => sum + own + ended, 0);
}

/** A process and its running descendants. Linux only. */
export const treePids = (root: number): number[] => [...treeTimes(root).keys()];

function treeTimes(root: number): Map<number, Times> {
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
  return new Map([...all].filter(([pid]) => isBelow(pid)));
}

interface Times {
  parent: number;
  own: number;
  /** CPU time of ended children and their descendants. */
  ended: number;
}

function timesOf(pid: number): Times {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command may contain spaces, so the numbers start after its closing bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const micros = (first: number) =>
    ((Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond) * 1_000_000;
  return { parent: Number(fields[1]), own: micros(11), ended: micros(13) };
}

/** Resident memory of these processes in KiB. Linux only. */
export const residentKib = (pids: readonly number[]): number => sumOf(pids, /^VmRSS:\s+(\d+)/m);

/** Resident memory with pages that several processes share divided among them, in KiB. Linux only. */
export const proportionalKib = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      return sum + Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    } catch {
      return sum; // It has ended.
    }
  }, 0);

/** Peak resident memory of each of these processes, summed, in KiB. Linux only. */
export const peakKib = (pids: readonly number[]): number => sumOf(pids, /^VmHWM:\s+(\d+)/m);

function sumOf(pids: readonly number[], line: RegExp): number {
  return pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(line.exec(status)?.[1] ?? 0);
  }, 0);
}

/** Maximum number of open files and sockets per process. */
export function fileLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1024);
}
