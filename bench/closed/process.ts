import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { percentileOrMax, Times } from "../load/histogram.ts";
import { serveCalls } from "../rpc.ts";
import { ask, openSocket } from "../raw-request.ts";

/** Connections that each send a request again and again, one at a time. */

export interface RunOptions {
  /** The request of each connection. */
  requests: readonly string[];
  seconds: number;
  /** Paces all connections together; without it each sends as soon as it has its response. */
  perSecond?: number;
}

export interface RunResult {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of responses by status. */
  statuses: Record<string, number>;
}

let sockets: Socket[] = [];

async function run({ requests, seconds, perSecond }: RunOptions): Promise<RunResult> {
  const times = new Times();
  const statuses: Record<string, number> = {};
  const turnMs = perSecond === undefined ? 0 : (requests.length / perSecond) * 1000;
  const started = performance.now();
  const end = started + seconds * 1000;
  await Promise.all(
    requests.map(async (request, i) => {
      const socket = sockets[i];
      if (!socket) return;
      for (let turn = i / requests.length; performance.now() < end; turn++) {
        // Missed turns are made up.
        const left = turnMs === 0 ? 0 : started + turn * turnMs - performance.now();
        if (left > 0.5) await pause(left);
        const sent = performance.now();
        const status = await ask(socket, request);
        times.record(performance.now() - sent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  const summary = times.summary();
  return {
    requests: summary.count,
    perSecond: (summary.count * 1000) / (performance.now() - started),
    p50Ms: percentileOrMax(summary, 50),
    p99Ms: percentileOrMax(summary, 99),
    statuses,
  };
}

const calls = {
  async open(urls: readonly string[]): Promise<void> {
    sockets = await Promise.all(urls.map(openSocket));
  },
  run,
};
export type ClosedCalls = typeof calls;
serveCalls(calls);
