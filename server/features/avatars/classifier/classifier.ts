import { fork, type ChildProcess } from "node:child_process";
import type { Logger } from "../../../platform/log/logger.ts";
import { program } from "../../../platform/programs.ts";
import type { Answer, Question, Scores } from "./contract.ts";

/** `idle`: nothing was asked yet, or not for long; the model is loaded by the next question. */
export type ClassifierState = "idle" | "loading" | "ready" | "unavailable";

export interface Classifier {
  /** Rejects when the model cannot be loaded, or does not answer in time. */
  classify(pixels: Uint8Array): Promise<Scores>;
  state(): ClassifierState;
  stop(): void;
}

export interface ClassifierOptions {
  log: Logger;
  /** Module that answers as the classifier does. */
  entry?: URL;
  /** After a failure nobody tries to load it for so long. */
  pauseMs?: number;
}

const loadLimitMs = 30_000;
const answerLimitMs = 15_000;
/** The model takes some 300 MB, given back when nobody asked for so long. */
const idleMs = 600_000;
const defaultPauseMs = 30_000;
/** Questions at once; the queue's concurrency keeps them fewer. */
const maxAsked = 16;

interface Pending {
  resolve: (scores: Scores) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** Whether the model's package is there at all; whether it works shows when it is loaded. */
function isInstalled(): boolean {
  try {
    return import.meta.resolve("nsfwjs/models/mobilenet_v2") !== "";
  } catch {
    return false;
  }
}

/** The model in a process of its own: no other job waits while it computes, or dies when it does. */
export function createClassifier(options: ClassifierOptions): Classifier {
  const { log, entry } = options;
  const own = program("classifier");
  const { pauseMs = defaultPauseMs } = options;
  const pending = new Map<number, Pending>();
  let child: ChildProcess | null = null;
  let loading: Promise<void> | null = null;
  let idleTimer: NodeJS.Timeout | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let state: ClassifierState = isInstalled() ? "idle" : "unavailable";
  let lastId = 0;

  const drop = (reason: string | null): void => {
    clearTimeout(idleTimer);
    child?.removeAllListeners();
    // What is left of the channel may still fail; nobody cares any more.
    child?.on("error", () => undefined);
    child?.kill("SIGKILL");
    child = null;
    loading = null;
    state = reason === null ? "idle" : "unavailable";
    if (reason !== null) {
      failedAt = performance.now();
      log.error({ reason }, "the picture classifier is not available");
    }
    for (const { reject, timer } of pending.values()) {
      clearTimeout(timer);
      reject(new Error(reason ?? "the classifier was stopped"));
    }
    pending.clear();
  };

  const wait = (id: number, limitMs: number): Promise<Scores> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => drop("no answer in time"), limitMs);
      pending.set(id, { resolve, reject, timer });
    });

  const load = async (): Promise<void> => {
    state = "loading";
    // It needs nothing of our environment, least of all its secrets.
    child = fork(entry ?? own.file, {
      execArgv: [...own.flags],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("error", (error) => drop(error.message));
    child.on("exit", (code, signal) => drop(`its process ended with ${signal ?? code}`));
    child.on("message", ({ id, scores }: Answer) => {
      const asked = pending.get(id);
      pending.delete(id);
      clearTimeout(asked?.timer);
      asked?.resolve(scores);
    });
    await wait(0, loadLimitMs);
    state = "ready";
  };

  return {
    classify: async (pixels) => {
      if (performance.now() - failedAt < pauseMs)
        throw new Error("the classifier is not available");
      if (pending.size >= maxAsked) throw new Error("the classifier is asked too much");
      clearTimeout(idleTimer);
      loading ??= load();
      await loading;
      const id = ++lastId;
      const answer = wait(id, answerLimitMs);
      const question: Question = { id, pixels };
      child?.send(question, () => undefined);
      const scores = await answer;
      idleTimer = setTimeout(() => drop(null), idleMs);
      idleTimer.unref();
      return scores;
    },
    state: () => state,
    stop: () => drop(null),
  };
}
