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

/** Voluntary context switches of the threads of these processes. Linux only. */
export function wakeUps(pids: readonly number[]): number {
  return sumOfThreads(pids, (folder) => {
    const status = readFileSync(`${folder}/status`, "utf8");
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
}

/** CPU time of the main threads of these processes so far, in microseconds. Linux only. */
export function mainThreadMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + threadMicros(`/proc/${pid}/task/${pid}`), 0);
}

export type NodeThreads = "main thread" | "libuv threads" | "V8 threads";

/**
 * CPU time of the running threads of these Node processes, in microseconds; V8 threads are those without a
 * name. Linux only.
 */
export function nodeThreadMicros(pids: readonly number[]): Record<NodeThreads, number> {
  const main = mainThreadMicros(pids);
  const libuv = sumOfThreads(pids, (folder) =>
    readFileSync(`${folder}/comm`, "utf8").startsWith("libuv-") ? threadMicros(folder) : 0,
  );
  const all = sumOfThreads(pids, threadMicros);
  return { "main thread": main, "libuv threads": libuv, "V8 threads": all - main - libuv };
}

const threadMicros = (folder: string): number =>
  Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / 1000;

function sumOfThreads(pids: readonly number[], valueOf: (folder: string) => number): number {
  return pids.reduce((sum, pid) => {
    try {
      const threads = readdirSync(`/proc/${pid}/task`);
      return threads.reduce((total, id) => total + valueOf(`/proc/${pid}/task/${id}`), sum);
    } catch {
      return sum; // It has ended.
    }
  }, 0);
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
