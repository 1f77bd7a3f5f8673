import { readdirSync, readFileSync } from "node:fs";

/** What the kernel says of processes, in /proc. Linux only. */

const ticksPerSecond = 100;

/** CPU time (user and system) of these processes so far, in microseconds. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timesOf(pid).own, 0);
}

/** CPU time of these processes and of their ended children so far, in microseconds. */
export const totalMicros = (pids: readonly number[]): number =>
  [...readEach(pids, timesOf).values()].reduce((sum, { own, ended }) => sum + own + ended, 0);

/** CPU time of a process and all its descendants, including ended ones, in microseconds. */
export const treeMicros = (root: number): number => totalMicros(treePids(root));

/** A process and its running descendants. */
export function treePids(root: number): number[] {
  const parents = readEach(allPids(), (pid) => timesOf(pid).parent);
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** The same by role in the service: "primary", "HTTP worker", "Redis". */
export function treeByKind(root: number): Record<string, number[]> {
  const kinds = readEach(treePids(root), (pid) => (pid === root ? "primary" : kindOf(pid)));
  const grouped = Map.groupBy(kinds.keys(), (pid) => kinds.get(pid) ?? "");
  return Object.fromEntries(grouped);
}

const allPids = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** What `read` says of each process; nothing of those that end meanwhile. */
function readEach<T>(pids: readonly number[], read: (pid: number) => T): Map<number, T> {
  const all = pids.flatMap((pid) => {
    try {
      return [[pid, read(pid)] as const];
    } catch {
      return [];
    }
  });
  return new Map(all);
}

/** Processor time of all processes of this machine so far: pid -> [name, seconds]. */
export type Everybody = Map<number, [name: string, seconds: number]>;

export const everybody = (): Everybody =>
  readEach(allPids(), (pid) => [nameOf(pid), timesOf(pid).own / 1e6]);

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

/** Resident memory of these processes in KiB. */
export const residentKib = (pids: readonly number[]): number => sumOf(pids, "status", "VmRSS");

/** Resident memory with pages that several processes share divided among them, in KiB. */
export const proportionalKib = (pids: readonly number[]): number =>
  [...readEach(pids, (pid) => sumOf([pid], "smaps_rollup", "Pss")).values()].reduce(
    (sum, kib) => sum + kib,
    0,
  );

const sumOf = (pids: readonly number[], file: string, name: string) =>
  pids.reduce((sum, pid) => sum + numberIn(`/proc/${pid}/${file}`, name), 0);

/** The number of a line such as "VmRSS:   1234 kB"; 0 without that line. */
const numberIn = (path: string, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(path, "utf8"))?.[1] ?? 0);

const nameOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, "utf8").trim();

const roles: Record<string, string> = {
  http: "HTTP worker",
  jobs: "job worker",
  operator: "operator",
};

/** Role of a process of the service, else its name. By command line: our processes end with a role and a number. */
function kindOf(pid: number): string {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const [role = ""] = command.slice(-3);
  const known = roles[role];
  if (known !== undefined) return known;
  const name = nameOf(pid);
  if (/^(redis|valkey)-server/.test(name)) return "Redis";
  return name === "postgres" ? "Postgres" : name;
}
