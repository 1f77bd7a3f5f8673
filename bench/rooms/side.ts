import { startRemote } from "../rpc.ts";
import type { RunOptions, RunResult } from "./generator.ts";
import type { RoomSpec } from "./links.ts";
import type { Protocol, RoomLoadCalls } from "./process.ts";

/** Amounts by the role of a process. */
export type Amounts = Record<string, number>;

/** A server whose rooms are under load. */
export interface Side {
  name: string;
  port: number;
  protocol: Protocol;
  /** New rooms for one run. */
  rooms(count: number, streams: number): Promise<RoomSpec[]>;
  /** Processor time in microseconds so far. */
  cpu(): Amounts;
}

export type Run = (options: RunOptions) => Promise<RunResult>;

/** Opens a load generator with all streams of new rooms. */
export async function withGenerator<T>(
  side: Side,
  { lobbies, streams }: { lobbies: number; streams: number },
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const generator = await startRemote<RoomLoadCalls>(new URL("./process.ts", import.meta.url));
  try {
    const rooms = await side.rooms(lobbies, streams);
    await generator.call("open", { port: side.port, protocol: side.protocol, rooms });
    return await work((options) => generator.call("run", options));
  } finally {
    await generator.stop();
  }
}

/** Starts something, and stops it after the work. */
export type With<Started, T> = (work: (one: Started) => Promise<T>) => Promise<T>;

/** Starts each within the one before, and stops them in reverse order. */
export function withAll<Started, T>(
  [start, ...others]: readonly With<Started, T>[],
  work: (all: Started[]) => Promise<T>,
  started: Started[] = [],
): Promise<T> {
  return start ? start((one) => withAll(others, work, [...started, one])) : work(started);
}

/** "refused/lost/duplicated/misordered/closed" of all runs. */
export function faultsText(results: readonly RunResult[]): string {
  const kinds = ["refused", "lost", "doubled", "disordered", "closed"] as const;
  return kinds.map((kind) => results.reduce((sum, one) => sum + one[kind], 0)).join("/");
}
