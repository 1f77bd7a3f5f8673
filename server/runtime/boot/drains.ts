import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../platform/log/logger.ts";
import type { DrainAnswer } from "../process-questions.ts";
import type { Child } from "./child.ts";

/** A signal to the whole process group may reach a worker before the primary, which then stops everything. */
const groupSignalMs = 1_000;

/** An HTTP worker as a drain needs it. */
export type DrainedWorker = Pick<
  Child,
  | "index"
  | "isReplaceable"
  | "isDraining"
  | "announceDrain"
  | "cancelDrain"
  | "giveUpDrain"
  | "replace"
  | "onceReady"
>;

export interface DrainsOptions {
  workers: () => readonly DrainedWorker[];
  log: Logger;
  /** SHUTDOWN_DELAY_SECONDS in milliseconds. */
  delayMs: number;
  /** Whether another instance is ready to take rooms and streams. */
  hasSuccessor: () => Promise<boolean>;
  /** The instance is not ready any more, while it still serves everything. */
  leave: () => void;
  /** It is ready again. */
  return: () => void;
}

/**
 * Replaces HTTP workers (BOOT-12). Those of an instance take over from each other. The last one drains only if another
 * instance is ready, and like an instance that stops: first balancers are told, then everything is served for the delay
 * (BOOT-34).
 */
export class Drains {
  readonly #options: DrainsOptions;
  #isLeaving = false;
  #isStopping = false;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** The last worker drains, or asks whether it may: the instance takes nothing over. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** The service will stop: no worker is replaced any more. */
  beginStop(): void {
    this.#isStopping = true;
  }

  /** Resolves once it is decided. */
  async drain(index: number): Promise<DrainAnswer> {
    const worker = this.#options.workers().find((one) => one.index === index);
    if (!worker) return "not_found";
    if (!worker.isReplaceable || this.#isStopping) return "not_ready";
    if (!this.#hasOthers(worker)) return this.#drainLast(worker);
    worker.replace();
    return "draining";
  }

  async drainBySignal(index: number): Promise<void> {
    await sleep(groupSignalMs, null, { ref: false });
    if (this.#isStopping) return;
    const answer = await this.drain(index);
    if (answer !== "draining") this.#warn(index, answer);
  }

  /** Of two instances that ask each other at once none drains: each answers that it is leaving. */
  async #drainLast(worker: DrainedWorker): Promise<DrainAnswer> {
    if (this.#isLeaving) return "not_ready";
    this.#isLeaving = true;
    worker.announceDrain();
    const { hasSuccessor, leave } = this.#options;
    if (!(await hasSuccessor()) || this.#isStopping) {
      worker.cancelDrain();
      this.#isLeaving = false;
      return this.#isStopping ? "not_ready" : "last";
    }
    leave();
    void this.#replaceLast(worker);
    return "draining";
  }

  async #replaceLast(worker: DrainedWorker): Promise<void> {
    const { delayMs, hasSuccessor } = this.#options;
    await sleep(delayMs, null, { ref: false });
    if (this.#isStopping) return;
    // One that ended by itself has a successor already.
    const isSame = worker.isDraining;
    if (isSame && (this.#hasOthers(worker) || (await hasSuccessor()))) worker.replace();
    else if (isSame) {
      // The other instance has gone meanwhile.
      worker.giveUpDrain();
      this.#warn(worker.index, "last");
    }
    await worker.onceReady();
    this.#isLeaving = false;
    this.#options.return();
  }

  #hasOthers(worker: DrainedWorker): boolean {
    return this.#options.workers().some((one) => one !== worker && one.isReplaceable);
  }

  #warn(index: number, reason: DrainAnswer): void {
    this.#options.log.warn(
      { event: "worker_drain_refused", role: "http", index, reason },
      "HTTP worker goes on: it is not ready, or no other one is, here or at another instance; try again later",
    );
  }
}
