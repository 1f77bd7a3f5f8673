import { freePort } from "../test/support/free-port.ts";
import { cpuMicros, treeMicros } from "./processes.ts";
import { note, verdict, type Table } from "./report.ts";
import { startRemote, type Handlers, type Remote } from "./rpc.ts";
import { openGenerator, type Generator, type Job } from "./load.ts";

/** Cost of a run of requests. */
export interface Measured {
  name: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of all HTTP processes, of Redis and of Postgres, per request. */
  workerMicros: number;
  redisMicros: number;
  postgresMicros: number;
  statuses: Record<string, number>;
}

export interface Measurement {
  name: string;
  generator: Generator;
  jobs: Job[];
  seconds: number;
  pids: readonly number[];
  redisPids?: readonly number[];
  postgresPid?: number;
  perSecond?: number;
}

/** In its first seconds a worker spends a seventh of its time compiling its own code. */
export const warmUpSeconds = 3;

/** CPU time of the processes over a run, after a warm-up. */
export async function measureRequests(given: Measurement): Promise<Measured> {
  const { name, generator, jobs, seconds, pids, redisPids = [], perSecond } = given;
  const postgresCpu = () => (given.postgresPid === undefined ? 0 : treeMicros(given.postgresPid));
  await generator.run(jobs, warmUpSeconds, perSecond);
  const before = cpuMicros(pids);
  const redisBefore = cpuMicros(redisPids);
  const postgresBefore = postgresCpu();
  const result = await generator.run(jobs, seconds, perSecond);
  const workerMicros = (cpuMicros(pids) - before) / result.requests;
  const redisMicros = (cpuMicros(redisPids) - redisBefore) / result.requests;
  const postgresMicros = (postgresCpu() - postgresBefore) / result.requests;
  note(`${name}: ${workerMicros.toFixed(1)} us, ${result.perSecond.toFixed(0)}/s`);
  const { perSecond: reached, p50Ms, p99Ms, statuses } = result;
  const micros = { workerMicros, redisMicros, postgresMicros };
  return { name, perSecond: reached, p50Ms, p99Ms, ...micros, statuses };
}

/** Shows unexpected responses. */
export const answersOf = ({ statuses }: Measured): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${status}:${count}`)
    .join(" ");

/** A row, its baseline (itself: none), and the maximum CPU ratio. */
export interface Compared {
  row: Measured;
  against: Measured;
  limit: number | null;
  /** Instead of `limit`: the minimum ratio of rates. */
  leastRate?: number;
}

export function comparedTable(title: string, lines: readonly Compared[]): Table {
  return {
    title: `${title}; worker us = CPU of the HTTP workers per request`,
    head: [
      "scenario",
      "req/s",
      "p50 ms",
      "p99 ms",
      "worker us",
      "Redis us",
      "Postgres us",
      "vs echo",
      "rate vs echo",
      "target",
      "answers",
    ],
    rows: lines.map(({ row, against, limit, leastRate }) => {
      const ratio = row.workerMicros / against.workerMicros;
      const rate = row.perSecond / against.perSecond;
      const ofCpu = limit === null ? "" : verdict(ratio, { limit, unit: "x" });
      const ofRate = { limit: leastRate ?? 0, unit: "x of the rate", isLeast: true };
      return [
        row.name,
        row.perSecond.toFixed(0),
        row.p50Ms.toFixed(2),
        row.p99Ms.toFixed(2),
        row.workerMicros.toFixed(1),
        row.redisMicros > 0 ? row.redisMicros.toFixed(1) : "",
        row.postgresMicros > 0 ? row.postgresMicros.toFixed(1) : "",
        row === against ? "" : `${ratio.toFixed(2)}x`,
        row === against ? "" : `${rate.toFixed(2)}x`,
        leastRate === undefined ? ofCpu : verdict(rate, ofRate),
        answersOf(row),
      ];
    }),
  };
}

export interface Echo {
  port: number;
  /** A new generator each time, because the server closes idle connections after seconds. */
  measure(given: {
    name: string;
    request: string;
    connections: number;
    seconds: number;
    perSecond?: number;
  }): Promise<Measured>;
  stop(): Promise<void>;
}

/**
 * Raw uWebSockets.js in as many processes as the service has HTTP workers, because a process with fewer
 * connections spends more of its time waking up. A GET returns about `bytes` bytes.
 */
export async function startEcho(bytes = 300, processes = 1): Promise<Echo> {
  const port = await freePort();
  const remotes: Remote<Handlers>[] = [];
  while (remotes.length < processes) {
    const args = [String(bytes), String(port)];
    remotes.push(await startRemote(new URL("./echo.ts", import.meta.url), { args }));
  }
  const pids = remotes.map(({ pid }) => pid);
  return {
    port,
    async measure({ request, connections, ...given }) {
      const generator = await openGenerator("127.0.0.1", port, connections);
      const jobs = Array.from({ length: connections }, () => ({ request }));
      const row = await measureRequests({ ...given, generator, jobs, pids });
      generator.close();
      return row;
    },
    async stop() {
      for (const remote of remotes) await remote.stop();
    },
  };
}
