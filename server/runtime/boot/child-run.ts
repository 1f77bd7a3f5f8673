import type { Worker } from "node:cluster";
import type { Socket } from "node:net";
import type { RoomNode, Takeover } from "../../../actors/index.ts";
import { nameOfInstance, type Instance } from "../../platform/instance.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import type { InstanceState, StopOrder, ToChild, ToPrimary } from "../ipc.ts";
import { Questions, type AskMessage, type Question } from "../process-questions.ts";
import { watchExit } from "./exit-detection.ts";
import { FrozenDetector } from "./frozen-detection.ts";

/** `exiting`: it can do nothing more, but the system has not reclaimed its memory yet. */
export type RunState = "starting" | "ready" | "draining" | "exiting" | "ended";

export interface RunEnd {
  pid: number;
  exitCode: number | null;
  signal: string | null;
  /** The reason of its failure, reported by itself. */
  reason: string | null;
}

export interface RunHost {
  log: Logger;
  onPrepared(): void;
  onReady(): void;
  /** It cannot start, and a retry would fail the same way. */
  onFinalFailure(reason: string): void;
  onFrozen(): void;
  /** It received SIGTERM. */
  onTerminated(): void;
  /** It was told to stop, has not ended in time and is killed. */
  onDrainTimeout(timeoutMs: number): void;
  onNode(node: RoomNode): void;
  /** Called once per node of actors in the process, as soon as it can do nothing more. */
  onNodeDown(node: RoomNode): void;
  onTakeover(takeover: Takeover): void;
  onEnd(end: RunEnd): void;
  /** Answers a question from the process. */
  answer(question: Question, about?: unknown): Promise<unknown>;
}

const drainTimeoutMs = 20_000;
const askTimeoutMs = 1_000;
/** A process that has just started on a busy machine accepts a handle late. */
const giveTimeoutMs = 10_000;
/** Bounds the connections waiting for the operator process, and pulses. */
const maxPendingAsks = 128;

/** One run of a process, from its fork to its exit. */
export class ChildRun {
  readonly startedAt = Date.now();
  readonly #worker: Worker;
  readonly #host: RunHost;
  readonly #questions: Questions;
  readonly #frozenDetector: FrozenDetector;
  #state: RunState = "starting";
  /** Announced nodes that are not down. */
  #nodes: RoomNode[] = [];
  #stopWatching: (() => void) | null = null;
  #stopping: Promise<void> | null = null;
  #killTimer: NodeJS.Timeout | null = null;
  #reason: string | null = null;
  #instance: Instance | null = null;
  #answeredAt = 0;
  #numGiven = 0;

  constructor(worker: Worker, host: RunHost) {
    this.#worker = worker;
    this.#host = host;
    this.#questions = new Questions((message) => this.#send(message), maxPendingAsks);
    this.#frozenDetector = new FrozenDetector(
      (timeoutMs) => this.#questions.ask("pulse", timeoutMs),
      () => {
        host.onFrozen();
        this.kill();
      },
    );
    worker.on("message", (message: ToPrimary) => this.#receive(message));
    worker.on("error", (error) =>
      host.log.warn(
        { event: "process_link_failed", err: error },
        "message to a process not sent; the process is restarted if it has ended",
      ),
    );
    worker.once("exit", (exitCode: number | null, signal: string | null) => {
      this.#markDown();
      this.#state = "ended";
      if (this.#killTimer) clearTimeout(this.#killTimer);
      const pid = worker.process.pid ?? 0;
      host.onEnd({ pid, exitCode, signal, reason: this.#reason });
    });
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get isServing(): boolean {
    return this.#state === "ready" || this.#state === "draining";
  }

  /** 0 once it has ended. */
  get pid(): number {
    return this.#state === "ended" ? 0 : (this.#worker.process.pid ?? 0);
  }

  /** Null until it is ready. */
  get instance(): Instance | null {
    return this.#instance;
  }

  /** Null until it is ready. */
  get name(): string | null {
    return this.#instance && nameOfInstance(this.#instance);
  }

  /** When it last sent anything after it was ready, by the clock of `performance.now()`; 0 before. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  get nodeId(): string | null {
    return this.#nodes[0]?.nodeId ?? null;
  }

  /** Tells it to start, once its code is loaded. */
  order(prepares: boolean, index: number): void {
    this.#send({ type: "start", prepares, index });
  }

  /** Null if it does not answer in time. */
  ask(question: Question, about?: unknown): Promise<unknown> {
    return this.#questions.ask(question, askTimeoutMs, about);
  }

  /** Kills the process if it has been frozen for too long. */
  checkPulse(): void {
    this.#frozenDetector.check();
  }

  sendState(state: InstanceState): void {
    this.#send({ type: "state", state });
  }

  /**
   * Resolves when it has ended. A process that does not finish in time is killed, so stopping always ends.
   * A second order to stop would end it at once, so only one is sent; a later call only shortens the time.
   */
  stop(order: StopOrder): Promise<void> {
    if (this.#worker.isDead()) return Promise.resolve();
    this.#killWithin(order.limitMs);
    this.#stopping ??= new Promise((resolve) => {
      this.#worker.once("exit", () => resolve());
      this.#send({ type: "stop", ...order });
    });
    return this.#stopping;
  }

  /** Stops it while the service runs on: it is not ready any more. */
  drain(): Promise<void> {
    this.#state = "draining";
    return this.stop({ limitMs: drainTimeoutMs, isDrain: true });
  }

  #killWithin(limitMs: number): void {
    if (this.#killTimer) clearTimeout(this.#killTimer);
    this.#killTimer = setTimeout(() => {
      this.#host.onDrainTimeout(Math.round(limitMs));
      this.kill();
    }, limitMs);
  }

  /**
   * Transfers a connection, of which `received` was read; resolves when it is done. The last byte of what was read
   * is still in the stream's buffer and is taken out once the stream has lost its handle: until then the primary
   * would read on, and lose what comes.
   */
  async give(connection: Socket, received: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const id = (this.#numGiven += 1);
    const message: ToChild = { type: "take", id };
    if (!this.#worker.isConnected()) throw new Error("the process has ended");
    this.#worker.process.send(message, connection, (error) => (error ? reject(error) : resolve()));
    try {
      // A send to a process that is ending may never call back.
      await withTimeout(promise, giveTimeoutMs);
      const rest = connection.read() as Buffer | null;
      const bytes = Buffer.concat(rest === null ? [received] : [received, rest]);
      this.#send({ type: "received", id, bytes: bytes.toString("base64") });
    } catch (error) {
      this.#send({ type: "received", id, bytes: null });
      throw error;
    }
  }

  kill(): void {
    this.#worker.process.kill("SIGKILL");
  }

  #receive(message: ToPrimary): void {
    this.#handle(message);
    if (this.isServing) this.#answeredAt = performance.now();
  }

  #handle(message: ToPrimary): void {
    switch (message.type) {
      case "terminated":
        return this.#host.onTerminated();
      case "node":
        this.#nodes.push(message.node);
        return this.#host.onNode(message.node);
      case "occupied":
        return this.#watch(message.isOccupied);
      case "failed":
        this.#reason = message.reason;
        if (message.isFinal) this.#host.onFinalFailure(message.reason);
        return;
      case "prepared":
        return this.#host.onPrepared();
      case "answer":
        return this.#questions.receive(message);
      case "ask":
        void this.#answer(message);
        return;
      case "takeover":
        return this.#host.onTakeover(message.takeover);
      case "ready":
        this.#instance = message.instance;
        if (this.#state === "starting") this.#state = "ready";
        this.#answeredAt = performance.now();
        return this.#host.onReady();
    }
  }

  /** Only processes with actors are watched; for others the exit event is early enough. */
  #watch(isOccupied: boolean): void {
    const { pid } = this.#worker.process;
    this.#stopWatching?.();
    this.#stopWatching = null;
    if (isOccupied && pid !== undefined)
      this.#stopWatching = watchExit(pid, () => this.#markDown());
  }

  #markDown(): void {
    this.#state = "exiting";
    this.#watch(false);
    const nodes = this.#nodes;
    this.#nodes = [];
    for (const node of nodes) this.#host.onNodeDown(node);
  }

  async #answer({ id, question, about }: AskMessage): Promise<void> {
    this.#send({ type: "answer", id, value: await this.#host.answer(question, about) });
  }

  #send(message: ToChild): void {
    if (this.#worker.isConnected()) this.#worker.send(message, () => {});
  }
}
