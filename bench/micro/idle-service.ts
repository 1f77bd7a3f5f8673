import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../test/support/eventually.ts";
import { startService, temporaryDataDir, type Service } from "../../test/support/process.ts";
import type { Scenario } from "../floor-scenario.ts";
import { proportionalKib, totalMicros, treeByKind } from "../processes.ts";
import { median, note } from "../report.ts";
import { millisOf } from "./in-turns.ts";

const workers = 2;
/** Unused Postgres connections are closed 10 s after a start, and its garbage is collected by then. */
const settleMs = 32_000;

/** Milliseconds of processor time per second and MiB, of the processes of a role; seconds of starts. */
type Figures = Record<string, number>;

/** Memory and activity of the idle service, and how fast it and its workers start. */
export const idleService: Scenario = {
  about: "an idle service: processor and memory by process; starts and restarts",
  async run({ isQuick }) {
    const seconds = isQuick ? 10 : 40;
    const rounds: Figures[] = [];
    while (rounds.length < (isQuick ? 1 : 3)) rounds.push(await measure(seconds));
    const names = Object.keys(rounds[0] ?? {});
    return [
      {
        title: `idle: ${workers} HTTP workers, ${seconds} s without a request, median of ${rounds.length} rounds`,
        head: ["what", "value"],
        rows: names.map((name) => [
          name,
          median(rounds.map((round) => round[name] ?? 0)).toFixed(name.endsWith(" s") ? 2 : 1),
        ]),
      },
    ];
  },
};

async function measure(seconds: number): Promise<Figures> {
  const dataDir = temporaryDataDir();
  const env = { HTTP_WORKERS: String(workers), LOG_LEVEL: "info" };
  const start = () => startService({ dataDir, env });
  try {
    await (await start()).stop();
    const startedAt = performance.now();
    const service = await start();
    return await watch(service, seconds, performance.now() - startedAt);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function watch(service: Service, seconds: number, startMs: number): Promise<Figures> {
  try {
    await sleep(settleMs);
    const before = treeByKind(service.pid);
    const micros = Object.values(before).map(totalMicros);
    await sleep(seconds * 1_000);
    const figures: Figures = { "all, ms/s": 0, "all, MiB": 0 };
    for (const [at, [kind, pids]] of Object.entries(before).entries()) {
      const busy = (totalMicros(pids) - (micros[at] ?? 0)) / 1_000 / seconds;
      const mib = proportionalKib(pids) / 1_024;
      figures[`${kind} (${pids.length}), ms/s`] = busy;
      figures[`${kind} (${pids.length}), MiB`] = mib;
      figures["all, ms/s"] = (figures["all, ms/s"] ?? 0) + busy;
      figures["all, MiB"] = (figures["all, MiB"] ?? 0) + mib;
    }
    // Not earlier: its request to the operator listener ends the idle state.
    const returnMs = await millisOf(() => replaceWorker(service));
    figures["second start, s"] = startMs / 1_000;
    figures["return of a killed HTTP worker, s"] = returnMs / 1_000;
    note(JSON.stringify(figures));
    return figures;
  } finally {
    await service.stop();
  }
}

async function replaceWorker(service: Service): Promise<void> {
  const [pid = 0] = await service.workerPids();
  process.kill(pid, "SIGKILL");
  await eventually("another worker is ready in its place", async () =>
    (await service.processes()).some(
      ({ role, is_ready, num_restarts }) => role === "http" && is_ready && num_restarts > 0,
    ),
  );
}
