import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { checkStored } from "../faults/check.ts";
import { everybody, treePids } from "../processes.ts";
import { note } from "../report.ts";
import { buildReport, totalOf } from "../report/build.ts";
import { Monitor, neighboursOf } from "../report/monitor.ts";
import { isAboutLeftovers } from "../report/budgets.ts";
import type { Context, Operation, Report } from "../report/schema.ts";
import { startRemote, type Remote } from "../rpc.ts";
import type { Scenario } from "../scenario.ts";
import { openTarget, TargetError, type Target, type TargetOptions } from "../target.ts";
import type { Beside, Happened } from "./beside.ts";
import { within } from "./deadline.ts";
import { optionsVariable, type GeneratorOptions } from "./generator.ts";
import { awaitGone, countHeld, type Held } from "./leftovers.ts";
import type { GeneratorCalls } from "./process.ts";
import type { GeneratorNotice, Played, ProcessResult, Second, Violation } from "./record.ts";
import { describeLoad, type Load } from "./shapes.ts";

export interface RunOptions {
  /** Path of the scenario's file, and its name in the report. */
  file: string;
  name: string;
  scenario: Scenario;
  load: Load;
  seed: number;
  processes: number;
  maxInFlight: number;
  /** Instead of those of the scenario. */
  budgets?: readonly string[];
  target: TargetOptions;
  /** The command line, for the report. */
  command: string;
  /** Aborted by Ctrl-C: the run ends early, and its report says so. */
  interrupted: AbortSignal;
  /** Runs beside the load, and reports what it caused. */
  beside?: (context: Beside) => Promise<Happened>;
}

const defaultSettleSeconds = 30;
const setupMs = 120_000;
const teardownMs = 30_000;
/** A generator that has not reported this long after its load is given up. */
const reportMs = 15_000;
/** The processes begin together after this. */
const leadMs = 500;

/** Runs a scenario against its target. A run that fails or is interrupted still resolves to a report. */
export async function runScenario(options: RunOptions): Promise<Report> {
  const run = new ScenarioRun(options);
  try {
    await run.complete();
  } catch (error) {
    run.fail(error);
  } finally {
    await run.close();
  }
  return run.report();
}

type Found = Pick<Context, "series" | "faults" | "leaves" | "leftovers"> & { peers: Operation[] };

class ScenarioRun {
  readonly #options: RunOptions;
  readonly #problems: string[] = [];
  readonly #seconds: Second[] = [];
  readonly #played: Played[] = [];
  /** Found after the load, in the database of an own instance. */
  #missing: Violation[] = [];
  readonly #generators: Remote<GeneratorCalls>[] = [];
  readonly #begunAt = performance.now();
  readonly #loadBefore = loadavg()[0] ?? 0;
  readonly #results: ProcessResult[] = [];
  readonly #found: Found = { series: [], faults: [], peers: [], leaves: {} };
  #target: Target | null = null;
  #monitor: Monitor | null = null;
  #neighbours: string[] = [];
  #startedAt = new Date();
  #loadMs = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async complete(): Promise<void> {
    const { scenario, target: given } = this.#options;
    const settings = { ...scenario.settings, ...given.settings };
    const target = await openTarget({ ...given, settings });
    this.#target = target;
    if (target.instance)
      for (const need of scenario.needs ?? []) await need.provide(target.instance);
    await this.#startGenerators(target);
    await this.#check();
    const held = await this.#countHeld(target);
    note("setup");
    await this.#each("the setup of the scenario", setupMs, (one) => one.call("setup"));
    await this.#bring(target);
    await this.#lookUp(target);
    await this.#tearDown();
    if (target.instance && held && !this.#options.interrupted.aborted) {
      note("waiting until what the players left is gone");
      this.#found.leftovers = await awaitGone(target.instance, held);
    }
  }

  fail(error: unknown): void {
    this.#problems.push(error instanceof Error ? error.message : String(error));
  }

  async close(): Promise<void> {
    this.#found.series = this.#monitor?.stop() ?? [];
    for (const { stop } of this.#generators) await stop();
    await this.#target?.stop();
  }

  report(): Report {
    const { name, scenario } = this.#options;
    const { aborted } = this.#options.interrupted;
    const hasFailed = this.#problems.length > 0;
    return buildReport({
      context: {
        scenario: name,
        about: scenario.about,
        status: aborted ? "interrupted" : hasFailed ? "failed" : "completed",
        run: this.#describeRun(),
        target: this.#describeTarget(),
        machine: this.#describeMachine(),
        ...this.#found,
      },
      problems: aborted ? ["it was interrupted", ...this.#problems] : this.#problems,
      budgets: this.#loadMs === 0 ? [] : this.#budgets,
      seconds: this.#seconds,
      results: this.#results,
      missing: this.#missing,
    });
  }

  async #startGenerators(target: Target): Promise<void> {
    const { file, load, seed, processes, maxInFlight, scenario } = this.#options;
    const id = `${Date.now().toString(36)}`;
    for (let index = 0; index < processes; index++) {
      const options: GeneratorOptions = {
        ...{ id, load, seed, index, processes, maxInFlight },
        url: target.url,
        operator: target.operator,
        addresses: target.addresses,
        settleSeconds: scenario.settleSeconds ?? defaultSettleSeconds,
        floorUrl: target.floor.url,
      };
      const generator = await startRemote<GeneratorCalls>(
        new URL("./process.ts", import.meta.url),
        {
          args: [file],
          env: { [optionsVariable]: JSON.stringify(options) },
          onNotice: (notice) => this.#note(notice as GeneratorNotice),
        },
      );
      this.#generators.push(generator);
    }
  }

  get #budgets(): readonly string[] {
    return this.#options.budgets ?? this.#options.scenario.budgets;
  }

  /** Null unless a budget is about it. */
  async #countHeld({ instance }: Target): Promise<Held | null> {
    return instance && this.#budgets.some(isAboutLeftovers) ? countHeld(instance) : null;
  }

  async #check(): Promise<void> {
    const [first] = this.#generators;
    if (!first) return;
    const missing = await within(setupMs, "the check of the target", first.call("check"));
    const held = this.#budgets.filter(isAboutLeftovers).map((text) => `"${text}"`);
    if (held.length > 0 && this.#target?.instance === null)
      missing.push(
        `${held.join(", ")} is counted on an own instance only: leave --url out, or give other budgets with --budget`,
      );
    if (missing.length > 0) throw new TargetError(missing.join("; "));
  }

  async #bring(target: Target): Promise<void> {
    const { load, scenario, beside, interrupted } = this.#options;
    note(describeLoad(load));
    const startedAt = performance.now() + leadMs;
    this.#startedAt = new Date(Date.now() + leadMs);
    const generatorPids = this.#generators.map(({ pid }) => pid);
    this.#monitor = new Monitor(target, generatorPids);
    this.#monitor.start(startedAt);
    const before = everybody();
    const settleMs = (scenario.settleSeconds ?? defaultSettleSeconds) * 1000;
    const limitMs = leadMs + load.seconds * 1000 + settleMs + reportMs;
    const over = new AbortController();
    const stop = () => {
      over.abort();
      this.#stopGenerators();
    };
    interrupted.addEventListener("abort", stop, { once: true });
    if (interrupted.aborted) stop();
    const context: Beside = {
      ...{ target, startedAt, seconds: load.seconds, generatorPids, signal: over.signal },
      lobbies: async () => [...new Set(await this.#gather((one) => one.call("lobbies")))],
      cutStreams: () => this.#gather((one) => one.call("cutStreams")),
      finish: () => this.#stopGenerators({ settles: true }),
    };
    const needed = target.instance ? (scenario.needs ?? []).map((need) => need.beside) : [];
    const happening = [beside, ...needed].map((run) => run?.(context));
    // Awaited after the load, where a failure becomes a problem of the report.
    for (const one of happening) one?.catch(() => undefined);
    const running = this.#generators.map((one, index) =>
      within(
        limitMs,
        `the result of generator ${index}`,
        one.call("run", performance.timeOrigin + startedAt),
      ),
    );
    const results = await Promise.allSettled(running);
    this.#loadMs = performance.now() - startedAt;
    over.abort();
    for (const result of results)
      if (result.status === "fulfilled") this.#results.push(result.value);
      else this.fail(result.reason);
    for (const one of happening) {
      const happened = await one;
      this.#found.faults.push(...(happened?.faults ?? []));
      this.#found.peers.push(...(happened?.peers ?? []));
      for (const problem of happened?.problems ?? []) this.fail(problem);
    }
    const root = target.instance ? [target.instance.pid] : [];
    const own = new Set([process.pid, ...root].flatMap(treePids));
    this.#neighbours = neighboursOf(before, this.#loadMs / 1000, own);
  }

  #note(notice: GeneratorNotice): void {
    if ("second" in notice) this.#seconds.push(notice.second);
    else this.#played.push(notice.played);
  }

  async #lookUp({ instance }: Target): Promise<void> {
    const isOver = this.#options.interrupted.aborted;
    if (!instance || this.#played.length === 0 || isOver) return;
    note(`looking up ${this.#played.length} games in the database`);
    this.#missing = await withClient(instance.databaseUrl, (client) =>
      checkStored(client, this.#played),
    );
  }

  async #tearDown(): Promise<void> {
    const left = await this.#each("the teardown of the scenario", teardownMs, (one) =>
      one.call("teardown"),
    );
    if (!this.#target?.instance) this.#found.leaves = totalOf([{}, ...left]);
  }

  /** From all generators that still answer. */
  async #gather<T>(ask: (one: Remote<GeneratorCalls>) => Promise<T[]>): Promise<T[]> {
    return (await Promise.all(this.#generators.map((one) => ask(one).catch(() => [])))).flat();
  }

  #stopGenerators(how: { settles?: boolean } = {}): void {
    for (const one of this.#generators) void one.call("stop", how).catch(() => undefined);
  }

  #each<T>(
    what: string,
    ms: number,
    call: (one: Remote<GeneratorCalls>) => Promise<T>,
  ): Promise<T[]> {
    return within(ms, what, Promise.all(this.#generators.map(call)));
  }

  #describeRun(): Report["run"] {
    const { command, seed, load, processes, maxInFlight, target } = this.#options;
    // Interrupted, it was shorter.
    const seconds = Math.max(0.001, Math.min(load.seconds, this.#loadMs / 1000));
    return {
      ...{ command, seed, processes, maxInFlight, ...commitOf(target.root ?? import.meta.dirname) },
      load: describeLoad(load),
      isClosed: load.shape === "closed",
      startedAt: this.#startedAt.toISOString(),
      seconds,
      besidesSeconds: (performance.now() - this.#begunAt) / 1000 - seconds,
    };
  }

  #describeTarget(): Report["target"] {
    const { target, scenario } = this.#options;
    const isOwn = target.url === null;
    const url = target.url ?? this.#target?.url ?? "";
    return { url, isOwn, settings: isOwn ? { ...scenario.settings, ...target.settings } : {} };
  }

  #describeMachine(): Report["machine"] {
    const all = cpus();
    return {
      cpu: all[0]?.model ?? "unknown",
      cores: all.length,
      memoryMib: Math.round(totalmem() / 2 ** 20),
      node: process.version,
      system: `${process.platform} ${release()}`,
      loadBefore: this.#loadBefore,
      loadAfter: loadavg()[0] ?? 0,
      neighbours: this.#neighbours,
    };
  }
}

/** `.gitignore` means the folder node_modules, not the link to it that a second checkout has. */
const besidesPackages = [":/", ":(exclude,top)node_modules"];

/** Of the checkout that has this folder; null outside of git. */
export function commitOf(folder: string): Pick<Report["run"], "commit" | "isDirty"> {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  try {
    const changes = git("status", "--porcelain", "--", ...besidesPackages);
    return { commit: git("rev-parse", "HEAD"), isDirty: changes !== "" };
  } catch {
    return { commit: null, isDirty: false };
  }
}
