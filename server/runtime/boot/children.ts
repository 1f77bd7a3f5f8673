import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { RoomNode, Takeover } from "../../../actors/index.ts";
import type { LogOutput } from "../../platform/log/log-output.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { reportMetrics } from "../../platform/metrics/report.ts";
import type { ProcessEvent } from "../../platform/process-event.ts";
import { roles, type InstanceState, type ProcessInfo, type Role } from "../ipc.ts";
import type { Question } from "../process-questions.ts";
import { passLines } from "./child-lines.ts";
import { Child, type ChildHost, type Give, type ProcessFacts } from "./child.ts";
import { pulseMs } from "./frozen-detection.ts";
import type { NewProcessEvent } from "./process-event-log.ts";
import { StartError } from "./start-error.ts";
import type { StopBudget } from "./stop-budget.ts";

/** Time for the last lines of ended processes to be read. */
const lastLinesMs = 1_000;
/** Nodes whose processes are remembered, to name them after their end. */
const maxNodes = 256;

export interface ChildrenOptions {
  /** Number of processes per role, except the operator process. */
  counts: Record<Exclude<Role, "operator">, number>;
  /** Environment variables of every child, added to the primary's own. */
  env: Record<string, string>;
  log: Logger;
  /** Logs what the children write to standard error. */
  logsErrorOutput: boolean;
  /** Output for the lines of all children. */
  lines: LogOutput;
  /** Called once per announced node, as soon as its process can do nothing more. */
  onNodeDown: (node: RoomNode) => void;
  /** Something happened to a process; returns at once. */
  record: (event: NewProcessEvent) => void;
  /** A process is ready, which may store events. */
  onAnyReady: () => void;
  /** An HTTP worker serves. */
  onWorkerReady: () => void;
  /** An HTTP worker received SIGTERM. */
  onTerminated: (index: number) => void;
  /** Answers a question of a process. */
  answer: (question: Question, about: unknown) => Promise<unknown>;
  /** Sent to each process once it is ready. */
  state: () => InstanceState;
}

/** The processes of the service: starts them, restarts those that end, and answers their questions. */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #children: readonly Child[];
  readonly #operator: Child;
  readonly #started = Promise.withResolvers<void>();
  readonly #forwarding = new Set<Promise<void>>();
  /** Node id -> name of its process. */
  readonly #names = new Map<string, () => string>();
  /** The first process has prepared the database for all. */
  #isPrepared = false;
  #metrics: Registry | null = null;
  #pulse: NodeJS.Timeout | null = null;

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#operator = new Child("operator", 0, this.#host("operator"));
    const { http, jobs } = options.counts;
    this.#children = [...this.#make("http", http), ...this.#make("jobs", jobs), this.#operator];
  }

  /** Resolves when all processes except the operator process are ready; rejects with StartError. */
  start(): Promise<void> {
    for (const child of this.#permanent()) child.start();
    this.#pulse = setInterval(() => {
      for (const child of this.#children) child.checkPulse();
    }, pulseMs);
    this.#pulse.unref();
    return this.#started.promise;
  }

  /** Starts the operator process at the first request, since a healthy service may never need it. */
  wakeOperator(): Promise<Give> {
    return this.#operator.wake();
  }

  list(): ProcessInfo[] {
    return this.#children.map((child) => child.info());
  }

  /** Hands events to a process with Postgres; false if none has stored them. */
  async storeEvents(events: readonly ProcessEvent[]): Promise<boolean> {
    // A frozen process answers nothing, so the next one is asked.
    for (const child of this.#permanent().filter(({ isServing }) => isServing))
      if ((await child.ask("events", events)) === true) return true;
    return false;
  }

  /** The HTTP workers, in the order of their slots. */
  workers(): readonly Child[] {
    return this.#ofRole("http");
  }

  publish(state: InstanceState): void {
    for (const child of this.#children) child.sendState(state);
  }

  /**
   * What the processes answer, except the operator process and those that do not answer in time; the metrics of the
   * primary are among them.
   */
  async ask(question: Question, about: unknown): Promise<unknown[]> {
    const asked = this.#permanent().filter(({ isServing }) => isServing);
    const found = await Promise.all(asked.map((child) => child.ask(question, about)));
    const answers = found.filter((value) => value !== null);
    // Those of the primary are never asked for by name.
    const isComplete = question !== "metrics" || Array.isArray(about);
    return isComplete ? answers : [...answers, await this.#reportMetrics()];
  }

  /** Drains one role after the other and waits for the exits. */
  async stop(budget: StopBudget): Promise<void> {
    if (this.#pulse) clearInterval(this.#pulse);
    for (const child of this.#children) child.retire();
    for (const role of roles) {
      const order = { limitMs: budget.leftMs(role), isDrain: false };
      await Promise.all(this.#ofRole(role).map((child) => child.stop(order)));
    }
    const forwarded = Promise.all(this.#forwarding);
    const limitMs = Math.min(lastLinesMs, budget.leftMs("lines"));
    await Promise.race([forwarded, sleep(limitMs, null, { ref: false })]);
  }

  killAll(): void {
    for (const child of this.#children) child.kill();
  }

  #make(role: Role, count: number): Child[] {
    return Array.from({ length: count }, (_, i) => new Child(role, i, this.#host(role)));
  }

  #ofRole(role: Role): Child[] {
    return this.#children.filter((child) => child.role === role);
  }

  #permanent(): Child[] {
    return this.#children.filter((child) => child !== this.#operator);
  }

  #host(role: Role): ChildHost {
    const { env, log, lines, onNodeDown, record, answer } = this.#options;
    const { onAnyReady, onWorkerReady, onTerminated, state } = this.#options;
    return {
      env,
      log,
      logsErrorOutput: this.#options.logsErrorOutput,
      record,
      onNode: ({ nodeId }, nameOf) => this.#remember(nodeId, nameOf),
      onNodeDown,
      onTakeover: (takeover, about) => record(this.#takeoverEvent(takeover, about)),
      forwardLines: (stdout) => {
        const forwarded = passLines(stdout, lines).finally(() =>
          this.#forwarding.delete(forwarded),
        );
        this.#forwarding.add(forwarded);
      },
      onForked: (child) => {
        if (this.#isPrepared || child === this.#children[0]) child.order(!this.#isPrepared);
      },
      onPrepared: () => {
        this.#isPrepared = true;
        for (const child of this.#children.slice(1)) child.order(false);
      },
      onFinalFailure: (reason) => this.#started.reject(new StartError(reason)),
      onTerminated: ({ index }) => onTerminated(index),
      onReady: (child) => {
        onAnyReady();
        child.sendState(state());
        if (role === "http") onWorkerReady();
        if (this.#permanent().every((child) => child.isReady)) this.#started.resolve();
      },
      onStartFailed: (reason) =>
        this.#started.reject(new StartError(`a process of role ${role} does not start: ${reason}`)),
      hasOthers: (child) => this.#hasOthers(child),
      answer: (question, about) => answer(question, about),
    };
  }

  #remember(nodeId: string, nameOf: () => string): void {
    this.#names.set(nodeId, nameOf);
    const [oldest] = this.#names.keys();
    if (this.#names.size > maxNodes && oldest !== undefined) this.#names.delete(oldest);
  }

  #takeoverEvent({ from, ...facts }: Takeover, about: ProcessFacts): NewProcessEvent {
    const { kind: room_kind, cause, numShards, numRooms } = facts;
    const name = this.#names.get(from)?.() ?? null;
    const numbers = { num_shards: numShards, num_rooms: numRooms };
    return {
      ...about,
      kind: "takeover",
      detail: { cause, from_process: name, from_incarnation: from, room_kind, ...numbers },
    };
  }

  #hasOthers(child: Child): boolean {
    return this.#children.some((one) => one !== child && one.role === child.role && one.isReady);
  }

  /** Loaded and sampled from the first question on: a service that nobody measures goes without it. */
  async #reportMetrics(): Promise<unknown> {
    const { createProcessRegistry } = await import("../../platform/metrics/process-metrics.ts");
    this.#metrics ??= createProcessRegistry("primary");
    return reportMetrics(this.#metrics);
  }
}
