import { readdirSync, readFileSync } from "node:fs";

/** Resource usage of one process. Linux only. */
export interface ProcessSample {
  pid: number;
  /** Its role in the service: "primary", "HTTP worker", "Redis", "Postgres". */
  kind: string;
  /** CPU time of its running threads, in nanoseconds. */
  cpuNs: number;
  /** Voluntary context switches of its threads. */
  wakeUps: number;
  threads: number;
  /** Resident memory in KiB, and PSS, which divides shared pages among their processes. */
  rssKib: number;
  pssKib: number;
}

/** The process `root` and all its descendants, except those that end during the call. */
export function sampleTree(root: number): ProcessSample[] {
  return pidsBelow(root).flatMap((pid) => {
    try {
      return [sampleOf(pid, pid === root)];
    } catch {
      return [];
    }
  });
}

/** The process `root` and all its descendants. */
export function pidsBelow(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has ended.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

function sampleOf(pid: number, isRoot: boolean): ProcessSample {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1]);
  const sample = { pid, kind: isRoot ? "primary" : kindOf(pid), cpuNs: 0, wakeUps: 0, threads: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    sample.threads += 1;
    sample.cpuNs += Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]);
    const status = readFileSync(`${folder}/status`, "utf8");
    sample.wakeUps += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
  }
  return { ...sample, rssKib: kib("Rss"), pssKib: kib("Pss") };
}

const roles: Record<string, string> = {
  http: "HTTP worker",
  jobs: "job worker",
  operator: "operator",
};

/** Role of a process of the service, else its name. By command line: our processes end with a role and a number. */
export function kindOf(pid: number): string {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const [role = ""] = command.slice(-3);
  const known = roles[role];
  if (known !== undefined) return known;
  const name = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  if (/^(redis|valkey)-server/.test(name)) return "Redis";
  return name === "postgres" ? "Postgres" : name;
}
