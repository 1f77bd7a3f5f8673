import { setTimeout as pause } from "node:timers/promises";
import { Command } from "commander";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { planBeside } from "./faults/beside.ts";
import type { Beside, Happened } from "./load/beside.ts";
import { percentileOrMax } from "./load/histogram.ts";
import { runScenario, type RunOptions } from "./load/run.ts";
import type { Load } from "./load/shapes.ts";
import { median, note, printTable } from "./report.ts";
import { exitCodes } from "./report/build.ts";
import type { Operation, Report } from "./report/schema.ts";
import { loadScenario, scenarioNames, type LoadedScenario } from "./scenarios.ts";
import { ownInstance } from "./target.ts";

/**
 * `npm run bench -- show [scenario...]`: what the load tests promise of themselves, tried with each scenario. A service
 * that stands still shows in the response times, a generator that does shows in the exit code, and a killed worker does
 * not keep a run from its report.
 */

const stallEveryMs = 5_000;
const stallMs = 1_000;
/** Of the seconds of each run: the share in which it stands still is a fifth. */
const seconds = 20;
/** A fifth of the arrivals waits, evenly between none and one second, so half of that at p90. */
const leastP90Ms = 400;
const leastP99Ms = 900;
const nothing: Happened = { faults: [], problems: [] };

/** The last second of every five, these processes stand still. */
export async function stall(context: Beside, pids: readonly number[]): Promise<Happened> {
  const { startedAt, seconds: length, signal } = context;
  for (let at = stallEveryMs - stallMs; at < length * 1000 && !signal.aborted; at += stallEveryMs) {
    await pause(Math.max(0, startedAt + at - performance.now()));
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await pause(stallMs);
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
  return nothing;
}

/** What answers: the HTTP worker and the operator listener. */
export async function stallService(context: Beside): Promise<Happened> {
  const all = (await context.target.instance?.processes()) ?? [];
  const pids = all.filter(({ role }) => role === "http" || role === "operator");
  return stall(
    context,
    pids.map(({ pid }) => pid),
  );
}

export const stallGenerator = (context: Beside): Promise<Happened> =>
  stall(context, context.generatorPids);

const killWorker = (context: Beside): Promise<Happened> =>
  planBeside(context, [{ kind: "kill-worker", atMs: (seconds * 1000) / 2 }]);

/** The operation with most samples; a figure of a scenario has no service time. */
export function mainOperation({ operations, problems, verdict }: Report): Operation {
  const [first] = operations
    .filter(({ service }) => service !== null)
    .toSorted((a, b) => b.count - a.count);
  if (!first) throw new Error([verdict, ...problems].join("; "));
  return first;
}

interface Shown {
  figures: string;
  isShown: boolean;
}

/** Few samples have no p99; then the longest time stands for it. */
function shownByService(report: Report): Shown {
  const { name, response } = mainOperation(report);
  const { "90": p90, "99": p99 } = response.percentiles;
  const tail = percentileOrMax(response, 99);
  return {
    figures: `${name} p90 ${p90?.toFixed(0) ?? "unknown"}, ${p99 == null ? "max" : "p99"} ${tail.toFixed(0)} ms`,
    isShown: (p90 ?? Infinity) >= leastP90Ms && tail >= leastP99Ms,
  };
}

function shownByGenerator(report: Report): Shown {
  const longest = mainOperation(report).service?.maxMs ?? 0;
  const { exitCode } = report;
  return {
    figures: `exit code ${exitCode}, service max ${longest.toFixed(0)} ms`,
    isShown: exitCode === exitCodes.generatorLimited && longest < stallMs,
  };
}

function shownByKill(report: Report): Shown {
  const { status, numViolations, faults, verdict } = report;
  const isCompleted = status === "completed";
  // A scenario may bring events of its own, such as imports.
  const numKills = faults.filter(({ name }) => name === "kill-worker").length;
  return {
    figures: `${isCompleted ? status : verdict}, ${numViolations} broken promises, ${numKills} kill`,
    isShown: isCompleted && numViolations === 0 && numKills === 1,
  };
}

const parts = [
  { settings: { HTTP_WORKERS: "1" }, beside: stallService, judge: shownByService },
  { settings: {}, beside: stallGenerator, judge: shownByGenerator },
  { settings: { HTTP_WORKERS: "2" }, beside: killWorker, judge: shownByKill },
];

async function show(one: LoadedScenario, interrupted: AbortSignal): Promise<Shown[]> {
  const { load } = one.scenario;
  const isPaced = load.shape !== "closed";
  const shown: Shown[] = [];
  const besides: number[] = [];
  for (const { settings, beside, judge } of parts) {
    if (!isPaced && judge !== shownByKill) {
      shown.push({ figures: "not paced", isShown: true });
      continue;
    }
    const options: RunOptions = {
      ...one,
      ...{ load: { ...load, seconds } as Load, budgets: [], beside, interrupted },
      ...{ seed: 1, processes: 1, maxInFlight: 10_000, command: "npm run bench -- show" },
      target: ownInstance(settings),
    };
    const report = await runScenario(options);
    shown.push(judge(report));
    besides.push(report.run.besidesSeconds ?? 0);
    note(`${one.name}: ${shown.at(-1)?.figures}`);
  }
  return [...shown, { figures: median(besides).toFixed(0), isShown: true }];
}

async function showAll(names: string[], interrupted: AbortSignal): Promise<number> {
  const rows: string[][] = [];
  let isAll = true;
  for (const name of names.length > 0 ? names : scenarioNames()) {
    if (interrupted.aborted) break;
    const shown = await show(await loadScenario(name), interrupted).catch((error: unknown) => [
      { figures: error instanceof Error ? error.message : String(error), isShown: false },
    ]);
    isAll &&= shown.every(({ isShown }) => isShown);
    rows.push([name, ...shown.map(({ figures, isShown }) => `${isShown ? "" : "NOT "}${figures}`)]);
  }
  const title = `a second of every ${stallEveryMs / 1000} s stands still; a worker is killed`;
  printTable({
    title,
    head: ["scenario", "service", "generator", "killed", "s besides the load"],
    rows,
  });
  return isAll ? exitCodes.passed : exitCodes.failed;
}

export async function main(): Promise<void> {
  const program = new Command("npm run bench -- show")
    .description("Shows with each scenario that the load tests see a stall and survive a kill.")
    .argument("[scenarios...]")
    .parse();
  const interruption = new AbortController();
  process.exit(
    await inOwnFolder(
      () => showAll(program.args, interruption.signal),
      () => Promise.resolve(interruption.abort()),
    ),
  );
}
