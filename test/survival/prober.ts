import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { callOnce } from "./caller.ts";

/** Measures when lobbies answer again. A thread of its own: the one that plays for everybody is late itself. */
export interface Prober {
  /** Milliseconds from now until 200 comes from there; eight seconds when it does not. */
  answersAfter(url: string, path: string): Promise<number>;
  stop(): Promise<unknown>;
}

interface Question {
  id: number;
  url: string;
  path: string;
  /** Milliseconds since the epoch, as exact as the clock of the process. */
  since: number;
}

interface Answer {
  id: number;
  ms: number;
}

const hedgeMs = 50;
const limitMs = 8_000;
const now = () => performance.timeOrigin + performance.now();

export function startProber(): Prober {
  const thread = new Worker(new URL(import.meta.url));
  const waiting = new Map<number, (ms: number) => void>();
  let nextId = 1;
  thread.on("message", ({ id, ms }: Answer) => {
    waiting.get(id)?.(ms);
    waiting.delete(id);
  });
  return {
    answersAfter: (url, path) =>
      new Promise((resolve) => {
        const id = nextId++;
        waiting.set(id, resolve);
        thread.postMessage({ id, url, path, since: now() } satisfies Question);
      }),
    stop: () => thread.terminate(),
  };
}

/**
 * A question goes out again and again without waiting for the one before, because any of them may have
 * reached the process that is gone: until the system has closed its socket, new connections go there, too.
 */
async function firstAnswer({ url, path, since }: Question): Promise<number> {
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const ask = async () => {
    const answer = await callOnce(url, { method: "GET", path }, false).catch(() => null);
    if (answer?.status === 200) resolve(now() - since);
  };
  while (now() - since < limitMs) {
    void ask();
    const ms = await Promise.race([answered, wait(hedgeMs, null)]);
    if (ms !== null) return ms;
  }
  return limitMs;
}

if (!isMainThread)
  parentPort?.on("message", (question: Question) => {
    void firstAnswer(question).then((ms) => parentPort?.postMessage({ id: question.id, ms }));
  });
