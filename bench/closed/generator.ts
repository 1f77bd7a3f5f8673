import { startRemote } from "../rpc.ts";
import type { ClosedCalls, RunOptions, RunResult } from "./process.ts";

/** A closed load: it saturates a server, for ratios of processor time, where `bench/load/` measures what users feel. */
export interface ClosedGenerator {
  /** `X-Request-Id` that each connection got first. */
  requestIds: string[];
  run(options: RunOptions): Promise<RunResult>;
  stop(): Promise<void>;
}

/** Opens connections from a process of its own, so that generating load does not use the server's. */
export async function openGenerator(url: string, connections: number): Promise<ClosedGenerator> {
  const remote = await startRemote<ClosedCalls>(new URL("./process.ts", import.meta.url));
  return {
    requestIds: await remote.call("open", { url, connections }),
    run: (options) => remote.call("run", options),
    stop: () => remote.stop(),
  };
}
