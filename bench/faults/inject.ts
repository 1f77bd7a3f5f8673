import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describeFault } from "../report/faults.ts";
import type { Fault } from "../report/schema.ts";
import type { Process, Service } from "../../test/support/process.ts";
import type { FaultKind, PlannedFault } from "./plan.ts";
import { startProber } from "./prober.ts";
import { Victims } from "./victims.ts";

export interface FaultsOptions {
  /** An own instance: somebody else's gets no faults. */
  service: Service;
  plan: readonly PlannedFault[];
  /** Of the load, by `performance.now()`. */
  startedAt: number;
  /** Codes of the lobbies in play. */
  codes(): Promise<string[]> | string[];
  /** Cuts all streams of the players; resolves to the milliseconds until each was open again. */
  cutStreams(): Promise<number[]>;
  /** How long to wait for a victim: the worker that was hit before may still start. */
  patienceMs: number;
  /** Aborted when the load is over: no more faults, and nothing is waited for. */
  signal: AbortSignal;
  report(line: string): void;
}

export interface Injected {
  faults: Fault[];
  /** Planned faults that could not be, and why. */
  missed: string[];
  /** Workers that were already gone when they were to be hit. */
  died: number[];
}

const freezeMs = 3_000;
const pollMs = 100;
const recoveryMs = 60_000;
/** Number of lobbies that are probed: enough for a median, few enough not to disturb. */
const probesPerFault = 12;

/** Causes the planned faults at their times, and measures how long the instance takes to recover from each. */
export async function injectFaults(options: FaultsOptions): Promise<Injected> {
  const injector = new Injector(options);
  try {
    return await injector.run();
  } finally {
    await injector.close();
  }
}

class Injector {
  readonly #options: FaultsOptions;
  readonly #victims: Victims;
  readonly #prober = startProber();
  readonly #injected: Injected = { faults: [], missed: [], died: [] };

  constructor(options: FaultsOptions) {
    this.#options = options;
    this.#victims = new Victims(options.service);
  }

  async run(): Promise<Injected> {
    const { plan, service } = this.#options;
    // Otherwise the first measurement would include the time to load the prober.
    const loaded = this.#prober.answersAfter(service.url, "/v1/health-check");
    await Promise.all([loaded, ...plan.map((fault) => this.#inject(fault))]);
    this.#injected.faults.sort((a, b) => a.at - b.at);
    return this.#injected;
  }

  async close(): Promise<void> {
    this.#victims.close();
    await this.#prober.stop();
  }

  async #inject({ kind, atMs }: PlannedFault): Promise<void> {
    const { startedAt, signal } = this.#options;
    const left = Math.max(0, startedAt + atMs - performance.now());
    await pause(left, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return this.#miss(kind, "the load was over");
    if (kind === "cut-streams") return this.#cutStreams();
    if (kind === "restart-redis") return this.#restart(kind, "redis/redis.pid");
    if (kind === "restart-postgres") return this.#restart(kind, "postgres/postmaster.pid");
    return this.#hitWorker(kind);
  }

  #miss(kind: FaultKind, reason: string): void {
    const line = `${kind} did not happen: ${reason}`;
    this.#injected.missed.push(line);
    this.#options.report(line);
  }

  async #hitWorker(kind: "kill-worker" | "freeze-worker" | "drain-worker"): Promise<void> {
    const picked = await this.#pickVictim();
    if (!picked) return this.#miss(kind, "no second worker was ready");
    const { worker, codes } = picked;
    const { pid } = worker;
    const fault = this.#begin(kind);
    if (kind === "drain-worker") {
      const status = await this.#drain(worker);
      if (status !== 202) return this.#miss(kind, `the order was answered with ${status}`);
    } else if (!signalled(pid, kind === "kill-worker" ? "SIGKILL" : "SIGSTOP")) {
      this.#injected.died.push(pid);
      return;
    }
    const thawed = kind === "freeze-worker" ? this.#thaw(pid) : Promise.resolve();
    const isBack = (workers: Process[]) =>
      workers.some(
        (one) =>
          one.index === worker.index &&
          one.is_ready &&
          (kind === "freeze-worker" || one.pid !== pid),
      );
    await Promise.all([
      this.#answering(fault, codes),
      thawed.then(() => this.#recovered(fault, async () => isBack(await this.#victims.workers()))),
    ]);
    if (kind === "freeze-worker") this.#victims.release(pid);
    this.#end(fault, `hit worker ${pid}`);
  }

  /** Waits a little for a second ready worker. */
  async #pickVictim() {
    const { signal, codes, patienceMs } = this.#options;
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const picked = await this.#victims.pick(await codes());
      if (picked || signal.aborted || performance.now() > deadline) return picked;
      await pause(pollMs);
    }
  }

  async #drain({ index }: Process): Promise<number> {
    const { operatorUrl, operatorToken } = this.#options.service;
    const response = await fetch(`${operatorUrl}/operator/workers/${index}/drain`, {
      method: "POST",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
      body: JSON.stringify({ reason: "a load test" }),
    });
    return response.status;
  }

  /** Also when the load ends before. */
  async #thaw(pid: number): Promise<void> {
    const { signal } = this.#options;
    await pause(freezeMs, undefined, { signal }).catch(() => undefined);
    signalled(pid, "SIGCONT");
  }

  /** The primary starts an embedded store again when it is killed. */
  async #restart(kind: FaultKind, pidFile: string): Promise<void> {
    const { service, codes } = this.#options;
    const pid = pidIn(join(service.dataDir, pidFile));
    if (pid === null) return this.#miss(kind, "the instance has no such store of its own");
    const played = await codes();
    const fault = this.#begin(kind);
    if (!signalled(pid, "SIGKILL")) return this.#miss(kind, "the store was away already");
    const isBack = async () => {
      const health = await fetch(`${service.operatorUrl}/health`).catch(() => null);
      await health?.body?.cancel();
      return health?.status === 200 && pidIn(join(service.dataDir, pidFile)) !== pid;
    };
    await Promise.all([this.#answering(fault, played), this.#recovered(fault, isBack)]);
    this.#end(fault, `killed store ${pid}`);
  }

  async #cutStreams(): Promise<void> {
    const fault = this.#begin("cut-streams");
    fault.recoveriesMs = await this.#options.cutStreams();
    fault.until = fault.at + Math.max(0, ...fault.recoveriesMs) / 1000;
    this.#end(fault, "cut all streams");
  }

  #begin(name: FaultKind): Fault {
    const at = (performance.now() - this.#options.startedAt) / 1000;
    return { name, at, until: null, recoveriesMs: [] };
  }

  #end(fault: Fault, what: string): void {
    this.#injected.faults.push(fault);
    this.#options.report(`${describeFault(fault)} (${what})`);
  }

  async #answering(fault: Fault, codes: readonly string[]): Promise<void> {
    const { url } = this.#options.service;
    fault.recoveriesMs = await Promise.all(
      codes
        .slice(0, probesPerFault)
        .map((code) => this.#prober.answersAfter(url, `/v1/games/trivia/lobbies/${code}`)),
    );
  }

  async #recovered(fault: Fault, isBack: () => Promise<boolean>): Promise<void> {
    const { signal, startedAt } = this.#options;
    const deadline = performance.now() + recoveryMs;
    while (!signal.aborted && performance.now() < deadline) {
      if (await isBack()) {
        fault.until = (performance.now() - startedAt) / 1000;
        return;
      }
      await pause(pollMs);
    }
  }
}

/** False: the process has ended. */
function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function pidIn(file: string): number | null {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10);
  } catch {
    return null;
  }
}
