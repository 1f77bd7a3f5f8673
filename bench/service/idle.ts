import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startService, temporaryDataDir, type Service } from "../../test/support/process.ts";
import { eventually } from "../../test/support/eventually.ts";
import { cpuMicros, sampleTree, treeMicros, type ProcessSample } from "../processes.ts";
import { median, note, type Table } from "../report.ts";
import type { RoundSizes, Scenario } from "../floor-scenario.ts";

const workers = 2;
/** Unused Postgres connections are closed 10 s after a start, and its garbage is collected by then. */
const settleSeconds = 32;

interface Side {
  name: string;
  root: string | null;
}

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
export const idle: Scenario = {
  about: "processor, wake-ups and memory by process without load; starts and restarts",
  async run({ isQuick, rounds: given }) {
    const sizes = isQuick ? { ...given, rounds: 1, seconds: Math.min(given.seconds, 10) } : given;
    const sides: Side[] = [{ name: "emberline", root: null }];
    if (sizes.beside !== null) sides.push({ name: sizes.beside, root: sizes.beside });
    const results = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
    for (let round = 0; round < sizes.rounds; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const measured = await measure(side, sizes);
        results.get(side.name)?.push(measured);
        note(`round ${round + 1}, ${side.name}: ${summaryOf(measured)}`);
      }
    return [processTable(results, sizes), startTable(results)];
  },
};

async function measure(side: Side, sizes: RoundSizes): Promise<Round> {
  const dataDir = temporaryDataDir();
  try {
    const [first, coldStart] = await start(side, dataDir);
    await first.stop();
    const [service, secondStart] = await start(side, dataDir);
    try {
      await sleep(settleSeconds * 1_000);
      // Not earlier, since a request to the operator listener would end the idle state.
      const kinds = await watch(service.pid, sizes.seconds);
      return { kinds, coldStart, secondStart, workerReturn: await killWorker(service) };
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function start({ root }: Side, dataDir: string): Promise<[Service, Span]> {
  const startedAt = performance.now();
  const service = await startService({
    dataDir,
    ...(root === null ? {} : { root }),
    env: { HTTP_WORKERS: String(workers), LOG_LEVEL: "info" },
  });
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

function processTable(results: Map<string, Round[]>, { seconds, rounds }: RoundSizes): Table {
  const rows = [...results].flatMap(([side, all]) => {
    const names = new Set(all.flatMap(({ kinds }) => [...kinds.keys()]));
    const row = (name: string, kindOf: (round: Round) => Kind) => {
      const medianOf = (key: keyof Kind, digits: number) =>
        median(all.map((round) => kindOf(round)[key])).toFixed(digits);
      const processes = `${name} (${medianOf("count", 0)})`;
      const loads = [medianOf("millisPerSecond", 1), medianOf("wakeUpsPerSecond", 0)];
      const sizes = [medianOf("threads", 0), medianOf("rssMib", 0), medianOf("pssMib", 0)];
      return [side, processes, ...loads, ...sizes];
    };
    return [
      ...[...names].map((name) => row(name, ({ kinds }) => kinds.get(name) ?? nothing)),
      row("all", ({ kinds }) => [...kinds.values()].reduce(sum, nothing)),
    ];
  });
  return {
    title: `idle: ${workers} HTTP workers, ${seconds} s without a request, median of ${rounds} rounds`,
    head: ["side", "processes", "ms/s", "wake-ups/s", "threads", "RSS MiB", "PSS MiB"],
    rows,
  };
}

function startTable(results: Map<string, Round[]>): Table {
  return {
    title: "starts: wall and processor seconds until ready",
    head: ["side", "empty DATA_DIR", "second start", "restart of a killed HTTP worker"],
    rows: [...results].map(([side, all]) => [
      side,
      ...(["coldStart", "secondStart", "workerReturn"] as const).map((name) => {
        const medianOf = (of: (span: Span) => number) => median(all.map((one) => of(one[name])));
        return spanText({ wall: medianOf(({ wall }) => wall), cpu: medianOf(({ cpu }) => cpu) });
      }),
    ]),
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
