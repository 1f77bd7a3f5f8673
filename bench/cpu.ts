import { existsSync, readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** CPU time (user and system) these processes have used so far, in microseconds. Linux only. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timesOf(pid).own, 0);
}

/** CPU time a process and its children, those that ended too, have used so far, in microseconds. Linux only. */
export function familyMicros(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const living = children.reduce((sum, child) => {
    // One that ended since it was listed is counted with its parent.
    return existsSync(`/proc/${child}`) ? sum + timesOf(Number(child)).own : sum;
  }, 0);
  const { own, ended } = timesOf(pid);
  return living + own + ended;
}

function timesOf(pid: number): { own: number; ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command may hold spaces: the numbers start after its closing bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const micros = (first: number) =>
    ((Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond) * 1_000_000;
  return { own: micros(11), ended: micros(13) };
}

/** A process and all that came of it. Linux only. */
export function treeOf(pid: number): number[] {
  const parents = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])] as const];
    } catch {
      return []; // It ended meanwhile.
    }
  });
  const below = (parent: number): number[] =>
    parents.flatMap(([child, its]) => (its === parent ? [child, ...below(child)] : []));
  return [pid, ...below(pid)];
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
