import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { inOwnFolder } from "../test/support/own-folder.ts";
import { faultsBeside } from "./faults/beside.ts";
import { faultKinds, type FaultKind } from "./faults/plan.ts";
import { within } from "./load/deadline.ts";
import { runAgainst } from "./compare/against.ts";
import { leastRounds } from "./compare/compare.ts";
import { CompareError } from "./compare/read.ts";
import { comparisonPage, comparisonText } from "./compare/text.ts";
import { withWorktree } from "./compare/worktree.ts";
import { findLimit } from "./limit/limit.ts";
import { runScenario, type RunOptions } from "./load/run.ts";
import { describeLoad, peakOf, plannedArrivals, shapes, type Load } from "./load/shapes.ts";
import { withPeers } from "./peers/beside.ts";
import { peerNames } from "./peers/named.ts";
import { parseBudget } from "./report/budgets.ts";
import { worstOf } from "./report/build.ts";
import { printReport } from "./report/text.ts";
import type { Report } from "./report/schema.ts";
import { writeReport } from "./report/write.ts";
import { loadScenario, scenarioNames, type LoadedScenario } from "./scenarios.ts";

/** The options as commander gives them. */
interface Options {
  list?: true;
  quick?: true;
  load?: Load["shape"];
  rate?: number[];
  users?: number;
  seconds?: number;
  seed: number;
  processes: number;
  maxInFlight: number;
  maxRate?: number;
  budget?: string[];
  faults?: FaultKind[];
  peers?: string[];
  url?: string;
  operatorUrl?: string;
  operatorTokenFile?: string;
  addresses?: string;
  iMayLoadThisHost?: true;
  against?: string;
  repeat: number;
  html?: string;
  /** First word: "gate" (`against` names a commit) or "limit". */
  mode: "run" | "gate" | "limit";
  set?: Record<string, string>;
  out: string;
}

const quickSeconds = 15;
const writeMs = 60_000;

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError("It must be a number.");
  return value;
};
const count = (text: string): number => {
  const value = number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return value;
};
const budget = (text: string, before: string[] = []): string[] => {
  try {
    parseBudget(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
  return [...before, text];
};
const faults = (text: string): FaultKind[] =>
  text.split(",").map((name) => {
    const kind = faultKinds.find((one) => one === name);
    if (!kind) throw new InvalidArgumentError(`A fault is ${faultKinds.join(", ")}.`);
    return kind;
  });
const peers = (text: string): string[] => {
  const names = text.split(",");
  if (!names.every((name) => peerNames.includes(name)))
    throw new InvalidArgumentError(`A peer is ${peerNames.join(", ")}.`);
  return names;
};
const setting = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [, name, value] = /^([A-Z_]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("NAME=value");
  return { ...before, [name]: value };
};

const program = new Command("npm run bench --")
  .description(
    "Load tests of an instance: one of its own, or the one at --url. Writes an HTML and a JSON report.",
  )
  .argument("[scenarios...]", "names, or paths of files")
  .option("--list", "the scenarios and how long they take")
  .option("--quick", `${quickSeconds} s at the same rate`)
  .addOption(new Option("--load <shape>", "instead of the scenario's").choices(shapes))
  .option("--rate <per second>", "ramp: from,to; steps: each; spike: base,peak", (text) =>
    text.split(",").map(number),
  )
  .option("--users <number>", "of a closed load", count)
  .option("--seconds <number>", "length of the load", number)
  .option("--seed <number>", "repeats a run's arrivals and choices", number)
  .option("--processes <number>", "generator processes", count, 1)
  .option("--max-in-flight <number>", "arrivals over it are dropped and counted", count, 1_000)
  .option("--max-rate <per second>", "refuses a load with a higher peak", number)
  .option("--budget <text>", 'instead of the scenario\'s: "read response p99 <= 50 ms"', budget)
  .option(
    "--faults <kinds>",
    `at seeded times, on an own instance: ${faultKinds.join(",")}`,
    faults,
  )
  .option("--peers <names>", `get the same load as a control: ${peerNames.join(",")}`, peers)
  .addOption(new Option("--url <address>", "of the instance to load").env("BENCH_URL"))
  .option("--operator-url <address>", "of its operator listener, for its metrics")
  .option("--operator-token-file <file>", "holds the token of an operator")
  .option("--addresses <range>", "gives each bot an X-Forwarded-For, as 10.9.0.0/16")
  .option("--i-may-load-this-host", "needed when --url is not this machine")
  .option("--set <NAME=value>", "setting of an own instance", setting)
  .option(
    "--against <checkout>",
    "compares with the build of another checkout, interleaved; gate: of a commit",
  )
  .option("--repeat <number>", `rounds of --against, at least ${leastRounds}`, count, 6)
  .option("--html <file>", "also writes the comparison of --against as a page")
  .option("--out <folder>", "of the reports", join(import.meta.dirname, "out"))
  .addHelpText(
    "after",
    "\nExit codes: 0 passed, 3 broken promise, 1 error, 4 generator at its limit, 5 comparison too noisy,\n" +
      "2 over budget or slower.\n" +
      "The highest rate within budget: npm run bench -- limit games\n" +
      "Two reports: npm run bench -- compare before.json after.json\n" +
      "Against a commit: npm run bench -- gate http --against v1.2.0\n" +
      "Ratios to the floor: npm run bench -- floor\n" +
      "What the load tests promise: npm run bench -- show; beside other tools: npm run bench -- calibrate\n" +
      "From a clone to the first game: npm run bench -- newcomer",
  )
  .action(start);

async function start(words: string[], given: Partial<Options>): Promise<void> {
  const seed = given.seed ?? Math.floor(Math.random() * 1_000_000);
  const [first] = words;
  const mode = first === "gate" || first === "limit" ? first : "run";
  const names = mode === "run" ? words : words.slice(1);
  const options = { ...given, seed, mode } as Options;
  if (options.list) return list();
  checkComparison(options);
  if (names.length === 0) program.error("which scenario? --list names them");
  if (options.faults && options.url !== undefined)
    program.error("--faults is for an own instance, without --url: it kills processes");
  const loaded: LoadedScenario[] = [];
  for (const name of names)
    loaded.push(await loadScenario(name).catch((error: Error) => program.error(error.message)));
  const loads = loaded.map(({ scenario }) => loadOf(scenario.load, options));
  if (options.peers) checkPeers(loaded, loads, options);
  const interrupted = new AbortController();
  let running: Promise<number> = Promise.resolve(0);
  process.exitCode = await inOwnFolder(
    () => (running = runAll(loaded, loads, options, interrupted.signal)),
    async () => {
      interrupted.abort();
      const written = within(writeMs, "the report of the interrupted run", running);
      await written.catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    },
  );
  process.exit();
}

function checkComparison({ against, mode, url, repeat, html }: Options): void {
  if (mode === "gate" && against === undefined) program.error("gate needs --against <commit>");
  if (html !== undefined && against === undefined)
    program.error("--html is for --against: a run always writes its page, into --out");
  if (against === undefined) return;
  if (url !== undefined) program.error("--against starts own instances, so it excludes --url");
  if (repeat < leastRounds) program.error(`--repeat must be at least ${leastRounds}`);
}

function checkPeers(
  loaded: readonly LoadedScenario[],
  loads: readonly Load[],
  { mode, against, faults: kinds }: Options,
): void {
  if (mode === "limit" || against !== undefined || kinds)
    program.error("--peers is for a plain run, without limit, --against and --faults");
  const other = loaded.find(({ scenario }) => scenario.peerStreams === undefined);
  if (other) program.error(`${other.name} has nothing that a peer could do as well: try fan-out`);
  if (loads.some(({ shape }) => shape !== "poisson")) program.error("--peers needs a poisson load");
}

async function list(): Promise<void> {
  for (const name of scenarioNames()) {
    const { scenario } = await loadScenario(name);
    const { about, load, besidesSeconds } = scenario;
    const [all, quick] = [load.seconds, quickSeconds].map((one) => one + (besidesSeconds ?? 0));
    const least = besidesSeconds === undefined ? "at least " : "";
    const line = `${name.padEnd(16)} ${about}; ${describeLoad(load)}, ${least}${all} s in all, ${quick} s quick`;
    process.stdout.write(`${line}\n`);
  }
}

/** The worst exit code of all runs. */
async function runAll(
  loaded: readonly LoadedScenario[],
  loads: readonly Load[],
  options: Options,
  interrupted: AbortSignal,
): Promise<number> {
  const codes: number[] = [];
  mkdirSync(options.out, { recursive: true });
  for (const [index, one] of loaded.entries()) {
    const load = loads[index];
    if (!load || (interrupted.aborted && index > 0)) break;
    process.stderr.write(`${one.name}: ${one.scenario.about}; seed ${options.seed}\n`);
    codes.push(await runOne(runOptionsOf(one, load, options, interrupted), options));
  }
  return worstOf(codes);
}

async function runOne(run: RunOptions, options: Options): Promise<number> {
  if (options.mode === "limit") return runLimit(run, options);
  if (options.against !== undefined) return runComparison(run, options.against, options);
  const report = await runBesidePeers(run, options.peers);
  printReport(report, writeReport(report, options.out));
  return report.exitCode;
}

/** The peers start before the run, so that only their load is beside it. */
function runBesidePeers(run: RunOptions, names: readonly string[] = []): Promise<Report> {
  const { load, seed, scenario } = run;
  const { peerStreams: streams } = scenario;
  if (names.length === 0 || streams === undefined || load.shape !== "poisson")
    return runScenario(run);
  const peerLoad = { perSecond: load.perSecond, streams, seed };
  return withPeers(names, peerLoad, (beside) => runScenario({ ...run, beside }));
}

async function runLimit(run: RunOptions, { out, maxRate = Infinity }: Options): Promise<number> {
  const { lines, exitCode } = await findLimit({ run, maxRate, out });
  process.stdout.write(`${lines.join("\n")}\n`);
  return exitCode;
}

async function runComparison(run: RunOptions, other: string, options: Options): Promise<number> {
  const { out, repeat, html } = options;
  const against = (root: string) => runAgainst({ run, root, name: other, repeat, out });
  try {
    const comparison = await (options.mode === "gate"
      ? withWorktree(other, against)
      : against(other));
    process.stdout.write(comparisonText(comparison));
    if (html !== undefined) writeFileSync(html, comparisonPage(comparison));
    return comparison.exitCode;
  } catch (error) {
    if (!(error instanceof CompareError)) throw error;
    process.stderr.write(`No comparison: ${error.message}\n`);
    return error.exitCode;
  }
}

function runOptionsOf(
  { name, file, scenario }: LoadedScenario,
  load: Load,
  options: Options,
  interrupted: AbortSignal,
): RunOptions {
  return {
    ...{ name, file, scenario, load, interrupted },
    ...{ seed: options.seed, processes: options.processes, maxInFlight: options.maxInFlight },
    ...(options.budget ? { budgets: options.budget } : {}),
    ...(options.faults ? { beside: faultsBeside(options.faults, options.seed) } : {}),
    command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
    target: {
      url: options.url?.replace(/\/+$/, "") ?? null,
      operatorUrl: options.operatorUrl?.replace(/\/+$/, "") ?? null,
      operatorTokenFile: options.operatorTokenFile ?? null,
      addresses: options.addresses ?? null,
      mayLoadHost: options.iMayLoadThisHost === true,
      settings: options.set ?? {},
    },
  };
}

/** The scenario's load with the changes of the command line. */
function loadOf(load: Load, options: Options): Load {
  const seconds = options.seconds ?? (options.quick ? quickSeconds : load.seconds);
  const changed = shapeOf({ ...load, seconds }, options);
  const { maxRate } = options;
  if (maxRate !== undefined && !(peakOf(changed) <= maxRate))
    program.error(`the load peaks at ${peakOf(changed)}/s, and --max-rate allows ${maxRate}`);
  if (changed.shape !== "closed" && !(plannedArrivals(changed) >= 1))
    program.error("the load has no arrival");
  return changed;
}

function shapeOf(load: Load, { load: shape = load.shape, rate, users }: Options): Load {
  const { seconds } = load;
  const isUnchanged = shape === load.shape && rate === undefined && users === undefined;
  if (isUnchanged) return load;
  const base = load.shape === "poisson" || load.shape === "constant" ? load.perSecond : undefined;
  const [first = base, second = first] = rate ?? [];
  if (shape === "closed") {
    const most = load.shape === "closed" ? load.users : undefined;
    return { shape, users: users ?? most ?? program.error("--load closed needs --users"), seconds };
  }
  if (first === undefined || second === undefined)
    return program.error(`--load ${shape} needs --rate`);
  if (shape === "ramp") return { shape, from: first, to: second, seconds };
  if (shape === "steps") return { shape, perSecond: rate ?? [first], seconds };
  if (shape === "spike") return { shape, perSecond: first, peak: second, seconds };
  return { shape, perSecond: first, seconds };
}

await program.parseAsync();
