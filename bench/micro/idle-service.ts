import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startService, temporaryDataDir, type Service } from "../../test/support/process.ts";
import { eventually } from "../../test/support/eventually.ts";
import { cpuMicros, sampleTree, treeMicros, type ProcessSample } from "../processes.ts";
import { median, note, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";

const workers = 2;
/** Unused Postgres connections are closed 10 s after a start, and its garbage is collected by then. */
const settleSeconds = 32;

/** Wall time and CPU time in seconds. */
interface Span {
  wall: number;
  cpu: number;
}

/** All processes of one role together. */
interface Kind {
  count: number;
  threads: number;
  millisPerSecond: number;
  wakeUpsPerSecond: number;
  rssMib: number;
  pssMib: number;
}

interface Round {
  kinds: Map<string, Kind>;
  coldStart: Span;
  secondStart: Span;
  /** From the kill of an HTTP worker until its replacement is ready. */
  workerReturn: Span;
}

/** Memory and activity of the idle service, and how fast it and its workers start. */
export const idleService: Scenario = {
  about: "an idle service: processor, wake-ups and memory by process; starts and restarts",
  async run({ isQuick }) {
    const sizes = isQuick ? { rounds: 1, seconds: 10 } : { rounds: 3, seconds: 20 };
    const rounds: Round[] = [];
    while (rounds.length < sizes.rounds) {
      const measured = await measure(sizes.seconds);
      rounds.push(measured);
      note(`round ${rounds.length}: ${summaryOf(measured)}`);
    }
    return [processTable(rounds, sizes.seconds), startTable(rounds)];
  },
};

async function measure(seconds: number): Promise<Round> {
  const dataDir = temporaryDataDir();
  try {
    const [first, coldStart] = await start(dataDir);
    await first.stop();
    const [service, secondStart] = await start(dataDir);
    try {
      await sleep(settleSeconds * 1_000);
      // Not earlier, since a request to the operator listener would end the idle state.
      const kinds = await watch(service.pid, seconds);
      return { kinds, coldStart, secondStart, workerReturn: await killWorker(service) };
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function start(dataDir: string): Promise<[Service, Span]> {
  const startedAt = performance.now();
  const env = { HTTP_WORKERS: String(workers), LOG_LEVEL: "info" };
  const service = await startService({ dataDir, env });
  return [service, { wall: secondsSince(startedAt), cpu: treeMicros(service.pid) / 1e6 }];
}

async function watch(root: number, seconds: number): Promise<Map<string, Kind>> {
  const before = new Map(sampleTree(root).map((sample) => [sample.pid, sample]));
  const startedAt = performance.now();
  await sleep(seconds * 1_000);
  const after = sampleTree(root);
  const elapsed = secondsSince(startedAt);
  const kinds = new Map<string, Kind>();
  for (const sample of after) {
    const earlier = before.get(sample.pid);
    const kind = kinds.get(sample.kind) ?? { ...nothing };
    add(kind, sample, earlier ?? { cpuNs: 0, wakeUps: 0 }, elapsed);
    kinds.set(sample.kind, kind);
  }
  return kinds;
}

const nothing: Kind = {
  count: 0,
  threads: 0,
  millisPerSecond: 0,
  wakeUpsPerSecond: 0,
  rssMib: 0,
  pssMib: 0,
};

function add(
  kind: Kind,
  sample: ProcessSample,
  earlier: Pick<ProcessSample, "cpuNs" | "wakeUps">,
  seconds: number,
): void {
  kind.count += 1;
  kind.threads += sample.threads;
  kind.millisPerSecond += (sample.cpuNs - earlier.cpuNs) / 1e6 / seconds;
  kind.wakeUpsPerSecond += (sample.wakeUps - earlier.wakeUps) / seconds;
  kind.rssMib += sample.rssKib / 1_024;
  kind.pssMib += sample.pssKib / 1_024;
}

async function killWorker(service: Service): Promise<Span> {
  const [pid = 0] = await service.workerPids();
  const startedAt = performance.now();
  process.kill(pid, "SIGKILL");
  let another = 0;
  await eventually("another worker is ready in its place", async () => {
    const http = (await service.processes()).filter(({ role }) => role === "http");
    const back = http.find(({ is_ready, num_restarts }) => is_ready && num_restarts > 0);
    another = back?.pid ?? 0;
    return back !== undefined;
  });
  return { wall: secondsSince(startedAt), cpu: cpuMicros([another]) / 1e6 };
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1_000;

function processTable(rounds: readonly Round[], seconds: number): Table {
  const names = new Set(rounds.flatMap(({ kinds }) => [...kinds.keys()]));
  const row = (name: string, kindOf: (round: Round) => Kind) => {
    const medianOf = (key: keyof Kind, digits: number) =>
      median(rounds.map((round) => kindOf(round)[key])).toFixed(digits);
    return [
      `${name} (${medianOf("count", 0)})`,
      ...[medianOf("millisPerSecond", 1), medianOf("wakeUpsPerSecond", 0)],
      ...[medianOf("threads", 0), medianOf("rssMib", 0), medianOf("pssMib", 0)],
    ];
  };
  return {
    title: `idle: ${workers} HTTP workers, ${seconds} s without a request, median of ${rounds.length} rounds`,
    head: ["processes", "ms/s", "wake-ups/s", "threads", "RSS MiB", "PSS MiB"],
    rows: [
      ...[...names].map((name) => row(name, ({ kinds }) => kinds.get(name) ?? nothing)),
      row("all", ({ kinds }) => [...kinds.values()].reduce(sum, nothing)),
    ],
  };
}

function startTable(rounds: readonly Round[]): Table {
  const spans = {
    coldStart: "empty DATA_DIR",
    secondStart: "second start",
    workerReturn: "restart of a killed HTTP worker",
  } as const;
  const names = Object.keys(spans) as (keyof typeof spans)[];
  const medianOf = (name: keyof typeof spans): Span => ({
    wall: median(rounds.map((round) => round[name].wall)),
    cpu: median(rounds.map((round) => round[name].cpu)),
  });
  return {
    title: "starts: wall and processor seconds until ready",
    head: Object.values(spans),
    rows: [names.map((name) => spanText(medianOf(name)))],
  };
}

const spanText = ({ wall, cpu }: Span) => `${wall.toFixed(2)} s, ${cpu.toFixed(2)} s`;

function summaryOf({ kinds, coldStart, secondStart, workerReturn }: Round): string {
  const all = [...kinds.values()].reduce(sum, nothing);
  const starts = [coldStart, secondStart, workerReturn].map(spanText).join("; ");
  return `${all.millisPerSecond.toFixed(1)} ms/s, ${all.pssMib.toFixed(0)} MiB, ${starts}`;
}

function sum(one: Kind, other: Kind): Kind {
  const keys = Object.keys(nothing) as (keyof Kind)[];
  return keys.reduce((total, key) => ({ ...total, [key]: one[key] + other[key] }), { ...nothing });
}
