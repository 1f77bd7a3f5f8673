import cluster, { type Worker } from "node:cluster";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { RoomNode, Takeover } from "../../../actors/index.ts";
import { childFlags } from "../../platform/config/node-flags.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { ProcessEvent } from "../../platform/process-event.ts";
import { program } from "../../platform/programs.ts";
import { maskText } from "../../platform/text/masking.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import type { InstanceState, ProcessInfo, Role, StopOrder } from "../ipc.ts";
import type { Question } from "../process-questions.ts";
import { collectText } from "./child-lines.ts";
import { ChildRun, type RunEnd } from "./child-run.ts";
import type { NewProcessEvent } from "./process-event-log.ts";
import { RestartPolicy } from "./restart-policy.ts";

const programs: Record<Role, string> = {
  http: "http-worker",
  jobs: "job-worker",
  operator: "operator",
};
/** Source maps are read when a stack needs them; in production the primary logs the warnings of the others. */
const notInherited = ["--enable-source-maps", "--no-warnings"];
/** Includes the primary's own flags, such as a debugger or the source loader. */
const inherited = process.execArgv.filter((flag) => !notInherited.includes(flag));
const execArgv = [...inherited, ...childFlags];

export interface ChildHost {
  /** Environment variables of every child, added to the primary's own. */
  env: Record<string, string>;
  log: Logger;
  /** Logs what a process writes to standard error, instead of passing it on unchanged. */
  logsErrorOutput: boolean;
  /** Forwards the log lines of a new process. */
  forwardLines(stdout: Readable): void;
  /** A new process loads its code and waits for its `order`. */
  onForked(child: Child): void;
  /** The process has prepared the database. */
  onPrepared(): void;
  onReady(child: Child): void;
  /** It received SIGTERM. */
  onTerminated(child: Child): void;
  /** It cannot start, and a retry would fail the same way. */
  onFinalFailure(reason: string): void;
  /** It ended several times before it was ready. */
  onStartFailed(reason: string): void;
  /** `nameOf`: the process of the node, also after its end. */
  onNode(node: RoomNode, nameOf: () => string): void;
  onNodeDown(node: RoomNode): void;
  onTakeover(takeover: Takeover, about: ProcessFacts): void;
  /** Records what happened to the process; returns at once. */
  record(event: NewProcessEvent): void;
  /** Whether another process of the role is ready. */
  hasOthers(child: Child): boolean;
  answer(question: Question, about?: unknown): Promise<unknown>;
}

/** The process in an event. */
export type ProcessFacts = Omit<NewProcessEvent, "kind" | "detail">;

/** Transfers a connection to a process, with the bytes that were read from it. */
export type Give = (connection: Socket, received: Buffer) => Promise<void>;

/** How long a request waits for a process that is started for it; on a busy machine a start takes many seconds. */
const wakeTimeoutMs = 30_000;

/** A process of the service, which is restarted when it ends by itself. */
export class Child {
  readonly role: Role;
  readonly index: number;
  readonly #host: ChildHost;
  readonly #restartPolicy = new RestartPolicy();
  #run: ChildRun | null = null;
  #restarts = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #isRetired = false;
  #isDraining = false;
  #answeredBefore = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(role: Role, index: number, host: ChildHost) {
    this.role = role;
    this.index = index;
    this.#host = host;
  }

  get isReady(): boolean {
    return this.#run?.isReady ?? false;
  }

  /** Ready or draining: it responds to questions. */
  get isServing(): boolean {
    return this.#run?.isServing ?? false;
  }

  /** When it or a predecessor last answered; 0 before the first did. */
  get answeredAt(): number {
    return Math.max(this.#answeredBefore, this.#run?.answeredAt ?? 0);
  }

  /** Ready, and not asked to drain. */
  get isReplaceable(): boolean {
    return this.isReady && !this.#isRetired && !this.#isDraining;
  }

  /** Asked to drain, and not ended yet. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  start(): void {
    const host = this.#host;
    this.#answeredBefore = this.answeredAt;
    const worker = fork(this.role, this.index, host);
    const { stdout, stderr } = worker.process;
    if (stdout !== null) host.forwardLines(stdout);
    if (stderr !== null) collectText(stderr, (text) => this.#logErrorOutput(text));
    const run: ChildRun = new ChildRun(worker, {
      log: host.log,
      onPrepared: () => host.onPrepared(),
      onFinalFailure: (reason) => host.onFinalFailure(reason),
      onReady: () => {
        this.#started();
        this.#restartPolicy.served();
        for (const resolve of this.#waiting.splice(0)) resolve();
        host.onReady(this);
      },
      onTerminated: () => host.onTerminated(this),
      onFrozen: () => {
        host.log.error(
          { event: "process_frozen", ...this.#place() },
          "process is frozen, killed and restarted",
        );
        this.#record("frozen");
      },
      onDrainTimeout: (timeoutMs) => {
        host.log.error(
          { event: "process_drain_timed_out", ...this.#place(), timeoutMs },
          "process did not drain in time, killed",
        );
        this.#record("drain_timed_out", { timeout_ms: timeoutMs });
      },
      onNode: (node) => host.onNode(node, () => run.name ?? `${this.role}-${this.index}`),
      onNodeDown: (node) => host.onNodeDown(node),
      onTakeover: (takeover) => host.onTakeover(takeover, this.#facts()),
      onEnd: (end) => this.#restartLater(end),
      answer: (question, about) => host.answer(question, about),
    });
    this.#run = run;
    host.onForked(this);
  }

  /** Tells it to start, once its code is loaded. */
  order(prepares: boolean): void {
    this.#run?.order(prepares, this.index);
  }

  /** Starts it on first use; resolves when it is ready. */
  async wake(): Promise<Give> {
    if (this.#run === null && !this.#isRetired) this.start();
    await withTimeout(this.onceReady(), wakeTimeoutMs);
    const run = this.#run;
    return async (connection, received) => run?.give(connection, received);
  }

  /** Resolves at once, or when it or its successor is ready. */
  onceReady(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.isReady) resolve();
    else this.#waiting.push(resolve);
    return promise;
  }

  /** Null if it does not answer in time. */
  ask(question: Question, about?: unknown): Promise<unknown> {
    return this.#run?.ask(question, about) ?? Promise.resolve(null);
  }

  checkPulse(): void {
    if (this.isReady) this.#run?.checkPulse();
  }

  /** Stops restarting it. */
  retire(): void {
    this.#isRetired = true;
    if (this.#restartTimer) clearTimeout(this.#restartTimer);
  }

  /** It will drain, and still serves. */
  announceDrain(): void {
    this.#isDraining = true;
  }

  /** It does not drain after all. */
  cancelDrain(): void {
    this.#isDraining = false;
  }

  /** It was announced, and nobody takes its rooms any more: the answer to the order was another one. */
  giveUpDrain(): void {
    this.cancelDrain();
    this.#record("drain_cancelled");
  }

  /** Drains; its successor starts when the process has ended. */
  replace(): void {
    this.#isDraining = true;
    this.#host.log.info(
      { event: "process_drain_started", ...this.#place() },
      "process drains, its rooms and streams move to the others",
    );
    this.#record("drain_started");
    void this.#run?.drain();
  }

  /** Drains; resolves when the process has ended. */
  async stop(order: StopOrder): Promise<void> {
    this.retire();
    await this.#run?.stop(order);
  }

  sendState(state: InstanceState): void {
    this.#run?.sendState(state);
  }

  kill(): void {
    this.retire();
    this.#run?.kill();
  }

  info(): ProcessInfo {
    return {
      role: this.role,
      index: this.index,
      pid: this.#run?.pid ?? 0,
      isReady: this.isReady,
      isDraining: this.#isDraining,
      restarts: this.#restarts,
      startedAt: this.#run?.startedAt ?? 0,
      nodeId: this.#run?.nodeId ?? null,
      instance: this.#run?.instance ?? null,
    };
  }

  #started(): void {
    const { build, instance: name } = this.#facts();
    this.#host.log.info(
      { event: "process_started", ...this.#place(), name, build },
      "process is ready",
    );
    const startMs = Date.now() - (this.#run?.startedAt ?? 0);
    this.#record("started", { start_ms: startMs, num_restarts: this.#restarts });
  }

  /** Warnings of Node, the stack of an uncaught error, the last words of V8. */
  #logErrorOutput(text: string): void {
    this.#host.log.warn(
      { event: "process_error_output", ...this.#place(), reason: text },
      "process wrote to standard error; if it has ended, the next line says so",
    );
  }

  #place() {
    return { role: this.role, index: this.index };
  }

  #facts(pid = this.#run?.pid ?? 0): ProcessFacts {
    const { instance = null, name = null } = this.#run ?? {};
    const { version = null, build = null } = instance ?? {};
    return { ...this.#place(), pid, instance: name, version, build };
  }

  #record(kind: ProcessEvent["kind"], detail: ProcessEvent["detail"] = {}, pid?: number): void {
    this.#host.record({ kind, ...this.#facts(pid), detail });
  }

  #restartLater({ pid, exitCode, signal, reason }: RunEnd): void {
    if (this.#isRetired) return;
    const { role, index } = this;
    const hasDrained = this.#isDraining && exitCode === 0;
    this.#isDraining = false;
    if (hasDrained) {
      const facts = { event: "process_drained", role, index };
      this.#host.log.info(facts, "process drained, starting its successor");
      this.#record("drained", {}, pid);
      return this.start();
    }
    this.#restartPolicy.exited(Date.now() - (this.#run?.startedAt ?? 0));
    this.#host.log.error(
      { event: "process_exited", role, index, exitCode, signal, reason },
      "process ended unexpectedly, restarting it",
    );
    const text = reason === null ? null : storable(reason);
    this.#record("exited", { exit_code: exitCode, signal, reason: text }, pid);
    if (this.#restartPolicy.doesNotStart)
      this.#host.onStartFailed(reason ?? `exit ${signal ?? exitCode}`);
    const pauseMs = this.#restartPolicy.pauseMs(this.#host.hasOthers(this));
    this.#restartTimer = setTimeout(() => {
      this.#restarts += 1;
      this.start();
    }, pauseMs);
  }
}

const maxReason = 300;

/** Masked, and without the one character that Postgres refuses. */
const storable = (reason: string) => maskText(reason.replaceAll("\u0000", ""), maxReason);

type Forking = Pick<ChildHost, "env" | "logsErrorOutput">;

function fork(role: Role, index: number, { env, logsErrorOutput }: Forking): Worker {
  const exec = program(programs[role]).file;
  const args = [role, String(index)];
  const stderr = logsErrorOutput ? "pipe" : "inherit";
  cluster.setupPrimary({ exec, args, execArgv, stdio: ["inherit", "pipe", stderr, "ipc"] });
  return cluster.fork(env);
}
