import { freePort } from "../../test/support/free-port.ts";
import { cpuMicros } from "../processes.ts";
import { note, verdict, type Table } from "../report.ts";
import { startRemote } from "../rpc.ts";
import { openGenerator, type ClosedGenerator } from "./generator.ts";
import type { RunOptions, RunResult } from "./process.ts";

/** Cost of a run of requests. */
export interface Measured extends RunResult {
  name: string;
  /** CPU time of all HTTP processes and of Redis per request. */
  workerMicros: number;
  redisMicros: number;
}

export interface Measurement extends RunOptions {
  name: string;
  generator: ClosedGenerator;
  pids: readonly number[];
  redisPids?: readonly number[];
}

/** In its first seconds a worker spends a seventh of its time compiling its own code. */
export const warmUpSeconds = 3;

/** CPU time of the processes over a run, after a warm-up. */
export async function measureRequests(given: Measurement): Promise<Measured> {
  const { name, generator, pids, redisPids = [], ...options } = given;
  await generator.run({ ...options, seconds: warmUpSeconds });
  const [before, redisBefore] = [cpuMicros(pids), cpuMicros(redisPids)];
  const result = await generator.run(options);
  const workerMicros = (cpuMicros(pids) - before) / result.requests;
  const redisMicros = (cpuMicros(redisPids) - redisBefore) / result.requests;
  note(`${name}: ${workerMicros.toFixed(1)} us, ${result.perSecond.toFixed(0)}/s`);
  return { name, ...result, workerMicros, redisMicros };
}

/** A row, its baseline (itself: none), and the maximum CPU ratio. */
export interface Compared {
  row: Measured;
  against: Measured;
  limit: number | null;
}

/** Rows with their ratios of processor time and rate to their baselines. */
export function comparedTable(title: string, lines: readonly Compared[]): Table {
  return {
    title: `${title}; worker us = CPU of the HTTP workers per request`,
    head: [
      ...["scenario", "req/s", "p50 ms", "p99 ms", "worker us", "Redis us"],
      ...["vs echo", "rate vs echo", "target", "answers"],
    ],
    rows: lines.map(({ row, against, limit }) => {
      const ratio = row.workerMicros / against.workerMicros;
      const rate = row.perSecond / against.perSecond;
      return [
        ...[row.name, row.perSecond.toFixed(0), row.p50Ms.toFixed(2), row.p99Ms.toFixed(2)],
        row.workerMicros.toFixed(1),
        row.redisMicros > 0 ? row.redisMicros.toFixed(1) : "",
        ...(row === against ? ["", ""] : [`${ratio.toFixed(2)}x`, `${rate.toFixed(2)}x`]),
        limit === null ? "" : verdict(ratio, { limit, unit: "x" }),
        Object.entries(row.statuses)
          .map(([status, count]) => `${status}:${count}`)
          .join(" "),
      ];
    }),
  };
}

export interface Echo {
  /** From new connections each time, because the server closes idle ones after seconds. */
  measure(given: {
    name: string;
    request: string;
    connections: number;
    seconds: number;
    perSecond?: number;
  }): Promise<Measured>;
  stop(): Promise<void>;
}

/** Raw uWebSockets.js. A GET returns about `bytes` bytes. */
export async function startEcho(bytes = 300): Promise<Echo> {
  const port = await freePort();
  const args = [String(bytes), String(port)];
  const { pid, stop } = await startRemote(new URL("./echo.ts", import.meta.url), { args });
  return {
    async measure({ request, connections, ...given }) {
      const generator = await openGenerator(`http://127.0.0.1:${port}`, connections);
      const requests = Array.from({ length: connections }, () => request);
      try {
        return await measureRequests({ ...given, generator, requests, pids: [pid] });
      } finally {
        await generator.stop();
      }
    },
    stop,
  };
}
