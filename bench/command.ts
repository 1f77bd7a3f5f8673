import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { Addresses } from "./bots/addresses.ts";
import { runAgainst } from "./compare/against.ts";
import { compareReports, leastRounds, type Comparison } from "./compare/compare.ts";
import { checkComparable, CompareError, readReport } from "./compare/read.ts";
import { comparisonDocument } from "./compare/text.ts";
import { checkoutAt, withWorktree } from "./compare/worktree.ts";
import { faultsBeside } from "./faults/beside.ts";
import { faultKinds, type FaultKind } from "./faults/plan.ts";
import { findLimit } from "./limit/limit.ts";
import { interruptible } from "./load/interruption.ts";
import { runScenario, type RunOptions } from "./load/run.ts";
import { describeLoad, peakOf, plannedArrivals, shapes, type Load } from "./load/shapes.ts";
import { withPeers } from "./peers/beside.ts";
import { peerNames } from "./peers/named.ts";
import { parseBudget } from "./report/budgets.ts";
import { exitCodes, worstOf } from "./report/build.ts";
import { asMarkdown, asPage } from "./report/document.ts";
import type { Report } from "./report/schema.ts";
import { makeReportFolder, publishReport, WriteError, writeWhole } from "./report/write.ts";
import { loadScenario, scenarioNames, type LoadedScenario } from "./scenarios.ts";
import { addressOf, isLoopback } from "./target.ts";

/** What the first word asks for, instead of a run. */
const modes = ["gate", "limit", "compare"] as const;

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
  /** What the file holds. */
  operatorTokenFile?: string;
  addresses?: string;
  iMayLoadThisHost?: true;
  /** A checkout, or a commit for a gate. */
  against?: string;
  repeat: number;
  html?: string;
  set?: Record<string, string>;
  out: string;
  mode: (typeof modes)[number] | "run";
}

const quickSeconds = 15;

/** An argument that is what `parse` says; its error tells the user what is wrong. */
const parsed =
  <T>(parse: (text: string, before: T) => T) =>
  (text: string, before: T): T => {
    try {
      return parse(text, before);
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
    }
  };
const number = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError("It must be a number of at least 0.");
  return value;
};
const wholeFrom =
  (least: number) =>
  (text: string): number => {
    const value = number(text);
    if (!Number.isInteger(value) || value < least)
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    return value;
  };
const count = wholeFrom(1);
const rates = (text: string) => text.split(",").map(number);
const namesOf =
  <T extends string>(what: string, all: readonly T[]) =>
  (text: string): T[] =>
    text.split(",").map((name) => {
      const known = all.find((one) => one === name);
      if (!known) throw new InvalidArgumentError(`A ${what} is ${all.join(", ")}.`);
      return known;
    });
const setting = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [, name, value] = /^([A-Z_]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("It must be NAME=value.");
  return { ...before, [name]: value };
};
const address = parsed<string>(addressOf);
/** What `--rate` gives each shape. */
const rateForms = {
  ...{ poisson: "one --rate", constant: "one --rate", ramp: "--rate from,to" },
  ...{ steps: "--rate with the rate of each step", spike: "--rate base,peak" },
};

const program = new Command("npm run bench --")
  .description(
    "Load tests of an instance: one of its own, or the one at --url. Writes an HTML and a JSON report.",
  )
  .argument("[scenarios...]", "names, or paths of files")
  .option("--list", "the scenarios and how long they take")
  .option("--quick", `${quickSeconds} s at the same rate`)
  .addOption(new Option("--load <shape>", "instead of the scenario's").choices(shapes))
  .option("--rate <per second>", "ramp: from,to; steps: each; spike: base,peak", rates)
  .option("--users <number>", "of a closed load", count)
  .option("--seconds <number>", "length of the load", number)
  .option("--seed <number>", "repeats a run's arrivals and choices", wholeFrom(0))
  .option("--processes <number>", "generator processes", count, 1)
  .option("--max-in-flight <number>", "arrivals over it are dropped and counted", count, 1_000)
  .option("--max-rate <per second>", "refuses a load with a higher peak", number)
  .option(
    "--budget <text>",
    'instead of the scenario\'s: "read response p99 <= 50 ms"',
    parsed<string[] | undefined>((text, before) => (parseBudget(text), [...(before ?? []), text])),
  )
  .option(
    "--faults <kinds>",
    `at seeded times, on an own instance: ${faultKinds.join(",")}`,
    namesOf("fault", faultKinds),
  )
  .option(
    "--peers <names>",
    `get the same load as a control: ${peerNames.join(",")}`,
    namesOf("peer", peerNames),
  )
  .addOption(
    new Option("--url <address>", "of the instance to load").env("BENCH_URL").argParser(address),
  )
  .option("--operator-url <address>", "of its operator listener, for its metrics", address)
  .option(
    "--operator-token-file <file>",
    "holds the token of an operator",
    parsed<string>((file) => readFileSync(file, "utf8").trim()),
  )
  .option(
    "--addresses <range>",
    "gives each bot an X-Forwarded-For, as 10.9.0.0/16",
    parsed<string>((range) => (new Addresses(range), range)),
  )
  .option("--i-may-load-this-host", "needed when --url is not this machine")
  .option("--set <NAME=value>", "setting of an own instance", setting)
  .option(
    "--against <checkout>",
    "compares with the build of another checkout, interleaved; gate: of a commit",
  )
  .option("--repeat <number>", "rounds of --against", wholeFrom(leastRounds), 6)
  .option("--html <file>", "also writes the comparison as a page")
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

const refuse = (reason: string): never => program.error(`error: ${reason}`);

async function start(words: string[], given: Partial<Options>): Promise<void> {
  const mode = modes.find((one) => one === words[0]) ?? "run";
  const names = mode === "run" ? words : words.slice(1);
  const seed = given.seed ?? Math.floor(Math.random() * 1_000_000);
  const options = { ...given, seed, mode } as Options;
  if (options.list) return list();
  if (mode === "compare") return compareFiles(names, options);
  if (names.length === 0) refuse("which scenario? --list names them");
  for (const [isWrong, reason] of conflictsOf(options)) if (isWrong) refuse(reason);
  try {
    makeReportFolder(options.out);
  } catch (error) {
    refuse(`--out: ${error instanceof Error ? error.message : String(error)}`);
  }
  const loaded: LoadedScenario[] = [];
  for (const name of names)
    loaded.push(await loadScenario(name).catch(({ message }: Error) => refuse(message)));
  const loads = loaded.map(({ scenario }) => loadOf(scenario.load, options));
  if (options.peers) checkPeers(loaded, loads);
  process.exitCode = await interruptible(async (interrupted) => {
    const codes: number[] = [];
    for (const [index, one] of loaded.entries()) {
      const load = loads[index];
      if (!load || (interrupted.aborted && index > 0)) break;
      process.stderr.write(`${one.name}: ${one.scenario.about}; seed ${seed}\n`);
      const run = runOptionsOf(one, load, options, interrupted);
      codes.push(await runOne(run, options).catch(unwritten));
    }
    return worstOf(codes);
  });
  process.exit();
}

/** Options that exclude each other, or miss another one, and why. */
function conflictsOf(options: Options): (readonly [isWrong: boolean, reason: string])[] {
  const { mode, against, url, operatorUrl, operatorTokenFile, faults, peers, html } = options;
  const isForeign = url !== undefined;
  const isComparison = against !== undefined;
  return [
    [
      isForeign && !isLoopback(url) && !options.iMayLoadThisHost,
      `${url} is another host: load it only if it is yours, with --i-may-load-this-host`,
    ],
    [mode === "gate" && !isComparison, "gate needs --against <commit>"],
    [mode === "limit" && isComparison, "limit excludes --against"],
    [isForeign && isComparison, "--against starts own instances, so it excludes --url"],
    [isForeign && faults !== undefined, "--faults is for an own instance, without --url"],
    [isForeign && options.set !== undefined, "--set is for an own instance, without --url"],
    [!isForeign && operatorUrl !== undefined, "--operator-url is for the instance at --url"],
    [!operatorUrl && operatorTokenFile !== undefined, "--operator-token-file needs --operator-url"],
    [
      html !== undefined && !isComparison,
      "--html is for --against, gate and compare: a run always writes its page, into --out",
    ],
    [
      peers !== undefined && (mode === "limit" || isComparison || faults !== undefined),
      "--peers is for a plain run, without limit, --against and --faults",
    ],
  ];
}

function checkPeers(loaded: readonly LoadedScenario[], loads: readonly Load[]): void {
  const other = loaded.find(({ scenario }) => scenario.peerStreams === undefined);
  if (other) refuse(`${other.name} has nothing that a peer could do as well: try fan-out`);
  if (loads.some(({ shape }) => shape !== "poisson")) refuse("--peers needs a poisson load");
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

/** Says which file could not be written, and returns the exit code for it. */
function unwritten(error: unknown): number {
  if (!(error instanceof WriteError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return exitCodes.failed;
}

/** Returns the exit code, or the worse one of a file that cannot be written. */
function afterWriting(exitCode: number, write: () => void): number {
  try {
    write();
    return exitCode;
  } catch (error) {
    return worstOf([exitCode, unwritten(error)]);
  }
}

async function runOne(run: RunOptions, options: Options): Promise<number> {
  const { mode, against, out, maxRate = Infinity } = options;
  if (mode === "limit") {
    const { lines, exitCode } = await findLimit({ run, maxRate, out });
    process.stdout.write(`${lines.join("\n")}\n`);
    return exitCode;
  }
  if (against !== undefined) return runComparison(run, against, options);
  const report = await runBesidePeers(run, options.peers);
  return afterWriting(report.exitCode, () => publishReport(report, out));
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

function runComparison(run: RunOptions, other: string, options: Options): Promise<number> {
  const { out, repeat, html, mode } = options;
  const against = (root: string) => runAgainst({ run, root, name: other, repeat, out });
  return publishComparison(html, () =>
    mode === "gate" ? withWorktree(other, against) : against(checkoutAt(other)),
  );
}

async function compareFiles(files: readonly string[], { html }: Options): Promise<void> {
  const [before, after] = files;
  if (before === undefined || after === undefined || files.length > 2)
    return refuse("compare needs two reports: compare before.json after.json");
  process.exitCode = await publishComparison(html, () => {
    const [a, b] = [readReport(before), readReport(after)];
    checkComparable([
      [before, a],
      [after, b],
    ]);
    return compareReports(a, b, [basename(before), basename(after)]);
  });
}

/** Prints a comparison, and resolves to its exit code. */
async function publishComparison(
  html: string | undefined,
  compare: () => Comparison | Promise<Comparison>,
): Promise<number> {
  try {
    const document = comparisonDocument(await compare());
    process.stdout.write(asMarkdown(document));
    return afterWriting(document.exitCode, () => {
      if (html !== undefined) writeWhole(html, asPage(document));
    });
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
  const { seed, processes, maxInFlight, budget, url, operatorUrl, addresses, set } = options;
  const token = options.operatorTokenFile ?? null;
  return {
    ...{ name, file, scenario, load, interrupted, seed, processes, maxInFlight },
    ...(budget ? { budgets: budget } : {}),
    ...(options.faults ? { beside: faultsBeside(options.faults, seed) } : {}),
    command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
    target: {
      url: url ?? null,
      operator: operatorUrl === undefined ? null : { url: operatorUrl, token },
      addresses: addresses ?? null,
      settings: set ?? {},
    },
  };
}

/** The scenario's load with the changes of the command line. */
function loadOf(load: Load, options: Options): Load {
  const { maxRate, mode } = options;
  const seconds = options.seconds ?? (options.quick ? quickSeconds : load.seconds);
  const changed = shapeOf({ ...load, seconds }, options);
  if (mode === "limit" && changed.shape === "closed")
    refuse("limit needs a load with a rate: --load poisson --rate 10");
  if (maxRate !== undefined && !(peakOf(changed) <= maxRate))
    refuse(`the load peaks at ${peakOf(changed)}/s, and --max-rate allows ${maxRate}`);
  if (changed.seconds === 0 || (changed.shape !== "closed" && plannedArrivals(changed) < 1))
    refuse(`the load has no arrival: ${describeLoad(changed)}`);
  return changed;
}

function shapeOf(load: Load, { load: shape = load.shape, rate, users }: Options): Load {
  const { seconds } = load;
  if (shape === "closed") {
    const most = users ?? (load.shape === "closed" ? load.users : undefined);
    if (rate !== undefined) refuse("a closed load has no --rate");
    return { shape, users: most ?? refuse("--load closed needs --users"), seconds };
  }
  if (users !== undefined) refuse("--users is for --load closed");
  if (rate === undefined && shape === load.shape) return load;
  const usual = "perSecond" in load && typeof load.perSecond === "number" ? [load.perSecond] : [];
  const rates = rate ?? usual;
  const [first, second] = rates;
  const needed = { poisson: 1, constant: 1, ramp: 2, steps: rates.length, spike: 2 }[shape];
  const hasAll = rates.length === needed && first !== undefined;
  if (!hasAll) return refuse(`${shape} needs ${rateForms[shape]}`);
  if (shape === "steps") return { shape, perSecond: rates, seconds };
  if (shape === "ramp") return { shape, from: first, to: second ?? first, seconds };
  if (shape === "spike") return { shape, perSecond: first, peak: second ?? first, seconds };
  return { shape, perSecond: first, seconds };
}

await program.parseAsync();
