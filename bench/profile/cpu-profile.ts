import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A function in V8's format; line and column are zero-based. */
export interface CallFrame {
  functionName: string;
  /** "" outside JavaScript. */
  url: string;
  lineNumber: number;
  columnNumber: number;
}

interface ProfileNode {
  id: number;
  callFrame: CallFrame;
  children?: number[];
}

/** A `.cpuprofile`; times in microseconds of the monotonic clock. */
export interface CpuProfile {
  nodes: ProfileNode[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** From and to, in microseconds of the monotonic clock. */
export type Span = readonly [from: number, to: number];

/** The clock of the profiles, shared by all processes of this machine. */
export const profileClock = (): number => Number(process.hrtime.bigint() / 1000n);

/** Node flags that write a profile of each process to a folder when the process ends. */
export const profileFlags = (folder: string): string =>
  `--cpu-prof --cpu-prof-interval=300 --cpu-prof-dir=${folder}`;

/** Profiles of the main threads of these processes; file names contain the pid. */
export function readProfiles(folder: string, pids: readonly number[]): CpuProfile[] {
  return readdirSync(folder)
    .filter((name) => pids.includes(Number(name.split(".")[3])))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile);
}

/** Calls `visit` for each stack, innermost function first, with the microseconds spent in it within the span. */
export function eachStack(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  [from, to]: Span,
  visit: (stack: readonly CallFrame[], micros: number) => void,
): void {
  const times = new Map<number, number>();
  let at = startTime;
  samples.forEach((id, n) => {
    at += timeDeltas[n] ?? 0;
    if (at >= from && at < to) times.set(id, (times.get(id) ?? 0) + (timeDeltas[n + 1] ?? 0));
  });
  const stacks = stacksOf(nodes);
  for (const [id, micros] of times) visit(stacks.get(id) ?? [], micros);
}

/** Node -> its call stack without the root. */
function stacksOf(nodes: readonly ProfileNode[]): Map<number, CallFrame[]> {
  const stacks = new Map<number, CallFrame[]>();
  // A caller precedes its callees.
  for (const { id, callFrame, children = [] } of nodes) {
    const above = stacks.get(id) ?? [];
    const stack = callFrame.functionName === "(root)" ? above : [callFrame, ...above];
    stacks.set(id, stack);
    for (const child of children) stacks.set(child, stack);
  }
  return stacks;
}
