import { fork, type ChildProcess } from "node:child_process";
import { Fault } from "../../../platform/faults/fault.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { program } from "../../../platform/programs.ts";
import type { Answer, Question, Scores } from "./contract.ts";

/** `idle`: not loaded; the next request loads the model. */
export type ClassifierState = "idle" | "loading" | "ready" | "unavailable";

export interface Classifier {
  /** Rejects when the model cannot be loaded, or does not answer in time. */
  classify(pixels: Uint8Array): Promise<Scores>;
  state(): ClassifierState;
  stop(): void;
}

export interface ClassifierOptions {
  log: Logger;
  /** Module of the classifier process. */
  entry?: URL;
  /** Pause before the next load after a failure. */
  pauseMs?: number;
}

const loadLimitMs = 30_000;
const answerLimitMs = 15_000;
/** Idle time after which the process ends; the model takes about 300 MB. */
const idleMs = 600_000;
const defaultPauseMs = 30_000;
/** Maximum concurrent requests; the queue's concurrency is lower. */
const maxPending = 16;

interface Pending {
  resolve: (scores: Scores) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** True when the model's package is installed; loading shows whether it works. */
function isInstalled(): boolean {
  try {
    return import.meta.resolve("nsfwjs/models/mobilenet_v2") !== "";
  } catch {
    return false;
  }
}

/** Runs the model in its own process: no other job waits for its computation or dies with it. */
export function createClassifier(options: ClassifierOptions): Classifier {
  return new ClassifierProcess(options);
}

class ClassifierProcess implements Classifier {
  readonly #log: Logger;
  readonly #entry: string | URL;
  readonly #flags: readonly string[];
  readonly #pauseMs: number;
  readonly #pending = new Map<number, Pending>();
  #state: ClassifierState = isInstalled() ? "idle" : "unavailable";
  #child: ChildProcess | null = null;
  #loading: Promise<void> | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #lastId = 0;

  constructor({ log, entry, pauseMs = defaultPauseMs }: ClassifierOptions) {
    const own = program("classifier");
    this.#log = log;
    this.#entry = entry ?? own.file;
    this.#flags = own.flags;
    this.#pauseMs = pauseMs;
  }

  async classify(pixels: Uint8Array): Promise<Scores> {
    if (performance.now() - this.#failedAt < this.#pauseMs)
      throw new Fault("classifier.paused", { text: "it failed a moment ago" });
    if (this.#pending.size >= maxPending)
      throw new Fault("classifier.overloaded", { text: `${maxPending} pictures wait` });
    clearTimeout(this.#idleTimer);
    this.#loading ??= this.#load();
    await this.#loading;
    const id = (this.#lastId += 1);
    const answer = this.#answerTo(id, answerLimitMs);
    const question: Question = { id, pixels };
    this.#child?.send(question, () => undefined);
    const scores = await answer;
    this.#idleTimer = setTimeout(() => this.stop(), idleMs);
    this.#idleTimer.unref();
    return scores;
  }

  state(): ClassifierState {
    return this.#state;
  }

  stop(): void {
    this.#end("idle", "the classifier was stopped");
  }

  async #load(): Promise<void> {
    this.#state = "loading";
    // The process needs no environment variable and gets no secret.
    const child = fork(this.#entry, {
      execArgv: [...this.#flags],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child = child;
    child.on("error", (error) => this.#fail(error.message));
    child.on("exit", (code, signal) => this.#fail(`its process ended with ${signal ?? code}`));
    child.on("message", ({ id, scores }: Answer) => {
      const asked = this.#pending.get(id);
      this.#pending.delete(id);
      clearTimeout(asked?.timer);
      asked?.resolve(scores);
    });
    await this.#answerTo(0, loadLimitMs);
    this.#state = "ready";
  }

  #answerTo(id: number, timeoutMs: number): Promise<Scores> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail("no answer in time"), timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
    });
  }

  #fail(reason: string): void {
    this.#failedAt = performance.now();
    this.#log.error(
      { event: "classifier_failed", reason },
      "picture classifier failed, it is loaded again by a later picture",
    );
    this.#end("unavailable", reason);
  }

  #end(state: ClassifierState, reason: string): void {
    clearTimeout(this.#idleTimer);
    this.#child?.removeAllListeners();
    // Late errors of the closed channel need no handling.
    this.#child?.on("error", () => undefined);
    this.#child?.kill("SIGKILL");
    this.#child = null;
    this.#loading = null;
    this.#state = state;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new Fault("classifier.failed", { text: reason }));
    }
    this.#pending.clear();
  }
}
