import { freePort } from "../../test/support/free-port.ts";
import { cpuMicros } from "../processes.ts";
import { note } from "../report.ts";
import { startRemote } from "../rpc.ts";
import type { ClosedCalls, RunOptions, RunResult } from "./process.ts";

/** Cost of a run of requests: processor time of each, of the HTTP processes and of Redis. */
export interface Measured extends RunResult {
  name: string;
  workerMicros: number;
  redisMicros: number;
}

export interface Measurement extends RunOptions {
  name: string;
  /** Of each connection. */
  urls: readonly string[];
  pids: readonly number[];
  redisPids?: readonly number[];
}

/** In its first seconds a worker spends a seventh of its time compiling its own code. */
const warmUpSeconds = 3;

/**
 * A closed load saturates a server, for ratios of processor time, where `bench/load/` measures what users feel. It comes
 * over new connections from a process of its own, so that generating it does not use the server's time.
 */
export async function withClosedLoad<T>(
  urls: readonly string[],
  work: (run: (options: RunOptions) => Promise<RunResult>) => Promise<T>,
): Promise<T> {
  const remote = await startRemote<ClosedCalls>(new URL("./process.ts", import.meta.url));
  try {
    await remote.call("open", urls);
    return await work((options) => remote.call("run", options));
  } finally {
    await remote.stop();
  }
}

/** Processor time of the processes over a run, after a warm-up. */
export function measureRequests(given: Measurement): Promise<Measured> {
  const { name, urls, pids, redisPids = [], ...options } = given;
  return withClosedLoad(urls, async (run) => {
    await run({ ...options, seconds: warmUpSeconds });
    const [before, redisBefore] = [cpuMicros(pids), cpuMicros(redisPids)];
    const result = await run(options);
    const workerMicros = (cpuMicros(pids) - before) / result.requests;
    const redisMicros = (cpuMicros(redisPids) - redisBefore) / result.requests;
    note(`${name}: ${workerMicros.toFixed(1)} us, ${result.perSecond.toFixed(0)}/s`);
    return { name, ...result, workerMicros, redisMicros };
  });
}

/** Raw uWebSockets.js. A GET returns about `bytes` bytes. */
export async function startEcho(bytes = 300) {
  const port = await freePort();
  const args = [String(bytes), String(port)];
  const { pid, stop } = await startRemote(new URL("./echo.ts", import.meta.url), { args });
  return { url: `http://127.0.0.1:${port}`, pid, stop };
}
