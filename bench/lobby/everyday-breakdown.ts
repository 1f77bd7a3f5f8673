import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mainThreadMicros, type NodeThreads } from "../cpu.ts";
import {
  eachStack,
  profileClock,
  profileFlags,
  readProfiles,
  type CpuProfile,
  type Span,
} from "../profile/cpu-profile.ts";
import { SourceNames } from "../profile/source-names.ts";
import { note, type Table } from "../report.ts";
import type { EverydaySizes } from "../floor-scenario.ts";
import { averageOf, mapValues, sum, type Amounts } from "./amounts.ts";
import { warmUpSeconds, withGenerator, type Run } from "./everyday-run.ts";
import { withServiceSide, type ServiceSide, type Side } from "./everyday-sides.ts";
import type { Measured, Results } from "./everyday-tables.ts";
import { partOf, parts } from "./worker-parts.ts";

const ownRoot = fileURLToPath(new URL("../..", import.meta.url));
const otherThreads = ["libuv threads", "V8 threads"] as const satisfies NodeThreads[];

/**
 * Breaks the processor time of the HTTP workers at the first rate down by kind of work. The main thread's
 * shares come from a profile of a separate run, since profiling slows everything down; the total was
 * measured without it.
 */
export async function breakdownTable(
  services: readonly ServiceSide[],
  results: Results,
  sizes: EverydaySizes,
): Promise<Table> {
  const [rate = 0] = sizes.rates;
  const columns: [name: string, micros: Amounts][] = [];
  for (const service of services) {
    const measured = results.get(service.name)?.get(rate) ?? [];
    columns.push([service.name, scaled(await profileShares(service, rate, sizes), measured)]);
    note(`profiled ${service.name} at ${rate}/s`);
  }
  const row = (name: string, of: (micros: Amounts) => number) => [
    name,
    ...columns.flatMap(([, micros]) => {
      const value = of(micros);
      return [value.toFixed(1), `${((100 * value) / sum(micros)).toFixed(1)} %`];
    }),
  ];
  return {
    title: `everyday: us of the HTTP workers for each command at ${rate}/s, by part (CPU profile of ${sizes.seconds} s)`,
    head: ["part", ...columns.flatMap(([name]) => [name, "share"])],
    rows: [
      ...[...parts, ...otherThreads].map((part) => row(part, (micros) => micros[part] ?? 0)),
      row("all but other", (micros) => sum(micros) - (micros["other"] ?? 0)),
    ],
  };
}

/** Microseconds per command by part, from shares and measured processor time. */
function scaled(shares: Amounts, measured: readonly Measured[]): Amounts {
  const { "main thread": main = 0, ...others } = averageOf(
    measured.map(({ micros, costs: { threadShares } }) =>
      mapValues(threadShares, (share) => share * (micros["HTTP workers"] ?? 0)),
    ),
  );
  return { ...mapValues(shares, (share) => share * main), ...others };
}

/** Shares of the HTTP workers' main thread time by kind of work. */
async function profileShares(
  service: ServiceSide,
  perSecond: number,
  sizes: EverydaySizes,
): Promise<Amounts> {
  const folder = mkdtempSync(join(tmpdir(), "ember-profile-"));
  try {
    const profiled = { ...service, env: { NODE_OPTIONS: profileFlags(folder) } };
    const { pids, span, processorTime } = await withServiceSide(profiled, (side) =>
      withGenerator(side, sizes, (run) => profiledRun(run, side, perSecond, sizes.seconds)),
    );
    const times = timesByPart(readProfiles(folder, pids), span, service.root ?? ownRoot);
    // The profiler considers the thread idle while it enters and leaves epoll.
    const inEpoll = Math.max(0, processorTime - sum(times));
    times["wake-ups"] = (times["wake-ups"] ?? 0) + inEpoll;
    return mapValues(times, (micros) => micros / sum(times));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function profiledRun(run: Run, side: Side, perSecond: number, seconds: number) {
  const pids = side.pids()[side.servedBy] ?? [];
  await run({ perSecond, seconds: warmUpSeconds, seed: 1 });
  const from = profileClock();
  const before = mainThreadMicros(pids);
  await run({ perSecond, seconds, seed: 2 });
  const processorTime = mainThreadMicros(pids) - before;
  return { pids, span: [from, profileClock()] as const, processorTime };
}

function timesByPart(profiles: readonly CpuProfile[], span: Span, root: string): Amounts {
  const names = new SourceNames(root);
  const times: Amounts = {};
  for (const profile of profiles)
    eachStack(profile, span, (stack, micros) => {
      const part = partOf(stack.map((frame) => names.nameOf(frame)));
      if (part !== null) times[part] = (times[part] ?? 0) + micros;
    });
  return times;
}
