import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Beside, Happened } from "../load/beside.ts";
import { note } from "../report.ts";
import { describeFault } from "../report/faults.ts";
import type { Fault } from "../report/schema.ts";
import { drainWorker, type Process, type Service } from "../../test/support/process.ts";
import { answersAfter } from "./answers-after.ts";
import type { FaultKind, PlannedFault } from "./plan.ts";
import { Victims } from "./victims.ts";

const freezeMs = 3_000;
const pollMs = 100;
const recoveryMs = 60_000;
/** Number of lobbies that are probed: enough for a median, few enough not to disturb. */
const probesPerFault = 12;

/** Causes planned faults beside a load, and measures how long the instance takes to recover from each. */
export class Injector {
  readonly #context: Beside;
  readonly #service: Service;
  readonly #patienceMs: number;
  readonly #victims: Victims;
  readonly #faults: Fault[] = [];
  /** Planned faults that could not be, and why. */
  readonly missed: string[] = [];
  /** Workers that were already gone when they were to be hit. */
  readonly died: number[] = [];

  /** `patienceMs`: how long to wait for a victim, since the worker that was hit before may still start. */
  constructor(context: Beside, service: Service, patienceMs: number) {
    this.#context = context;
    this.#service = service;
    this.#patienceMs = patienceMs;
    this.#victims = new Victims(service);
  }

  async run(plan: readonly PlannedFault[]): Promise<Happened["faults"]> {
    try {
      await Promise.all(plan.map((fault) => this.#inject(fault)));
      return this.#faults.toSorted((a, b) => a.at - b.at);
    } finally {
      this.#victims.close();
    }
  }

  async #inject({ kind, atMs }: PlannedFault): Promise<void> {
    const { startedAt, signal } = this.#context;
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
    this.missed.push(line);
    note(line);
  }

  async #hitWorker(kind: "kill-worker" | "freeze-worker" | "drain-worker"): Promise<void> {
    const picked = await this.#pickVictim();
    if (!picked) return this.#miss(kind, "no second worker was ready");
    const { worker, codes } = picked;
    const { pid } = worker;
    const fault = this.#begin(kind);
    if (kind === "drain-worker") {
      const { status } = await drainWorker(this.#service, worker.index);
      if (status !== 202) return this.#miss(kind, `the order was answered with ${status}`);
    } else if (!signalled(pid, kind === "kill-worker" ? "SIGKILL" : "SIGSTOP")) {
      this.died.push(pid);
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
    const { signal, lobbies } = this.#context;
    const deadline = performance.now() + this.#patienceMs;
    for (;;) {
      const picked = await this.#victims.pick(await lobbies());
      if (picked || signal.aborted || performance.now() > deadline) return picked;
      await pause(pollMs);
    }
  }

  /** Also when the load ends before. */
  async #thaw(pid: number): Promise<void> {
    const { signal } = this.#context;
    await pause(freezeMs, undefined, { signal }).catch(() => undefined);
    signalled(pid, "SIGCONT");
  }

  /** The primary starts an embedded store again when it is killed. */
  async #restart(kind: FaultKind, pidFile: string): Promise<void> {
    const { dataDir, operatorUrl } = this.#service;
    const pid = pidIn(join(dataDir, pidFile));
    if (pid === null) return this.#miss(kind, "the instance has no such store of its own");
    const played = await this.#context.lobbies();
    const fault = this.#begin(kind);
    if (!signalled(pid, "SIGKILL")) return this.#miss(kind, "the store was away already");
    const isBack = async () => {
      const health = await fetch(`${operatorUrl}/health`).catch(() => null);
      await health?.body?.cancel();
      return health?.status === 200 && pidIn(join(dataDir, pidFile)) !== pid;
    };
    await Promise.all([this.#answering(fault, played), this.#recovered(fault, isBack)]);
    this.#end(fault, `killed store ${pid}`);
  }

  /** Waits a little for streams, of which there are none at the begin of a load. */
  async #cutStreams(): Promise<void> {
    const { signal, cutStreams } = this.#context;
    const deadline = performance.now() + this.#patienceMs;
    for (;;) {
      const fault = this.#begin("cut-streams");
      fault.recoveriesMs = await cutStreams();
      if (fault.recoveriesMs.length > 0) {
        fault.until = fault.at + Math.max(...fault.recoveriesMs) / 1000;
        return this.#end(fault, "cut all streams");
      }
      if (signal.aborted || performance.now() > deadline)
        return this.#miss("cut-streams", "no stream was open");
      await pause(pollMs);
    }
  }

  #begin(name: FaultKind): Fault {
    const at = (performance.now() - this.#context.startedAt) / 1000;
    return { name, at, until: null, recoveriesMs: [] };
  }

  #end(fault: Fault, what: string): void {
    this.#faults.push(fault);
    note(`${describeFault(fault)} (${what})`);
  }

  async #answering(fault: Fault, codes: readonly string[]): Promise<void> {
    const { url } = this.#service;
    fault.recoveriesMs = await Promise.all(
      codes
        .slice(0, probesPerFault)
        .map((code) => answersAfter(`${url}/v1/games/trivia/lobbies/${code}`)),
    );
  }

  async #recovered(fault: Fault, isBack: () => Promise<boolean>): Promise<void> {
    const { signal, startedAt } = this.#context;
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
