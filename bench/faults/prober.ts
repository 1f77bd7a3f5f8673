import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { Addresses } from "../bots/addresses.ts";
import { callOnce } from "./caller.ts";

/** Measures when lobbies respond again, in a separate thread, because the playing thread itself is late. */
export interface Prober {
  /** Milliseconds from now until this address returns 200; eight seconds if it does not. */
  answersAfter(url: string, path: string): Promise<number>;
  stop(): Promise<unknown>;
}

interface Question {
  id: number;
  url: string;
  path: string;
  /** Milliseconds since the epoch, at the resolution of the process clock. */
  since: number;
}

interface Answer {
  id: number;
  ms: number;
}

const hedgeMs = 50;
const limitMs = 8_000;
/** Each request has its own, where the service believes it, so that it meets no limit. */
const addresses = new Addresses("10.10.0.0/16");
let numAsked = 0;
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
 * Requests are sent repeatedly without waiting for earlier ones, because any of them may have reached the
 * dead process: until the system closes its socket, new connections go there too.
 */
async function firstAnswer({ url, path, since }: Question): Promise<number> {
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const ask = async () => {
    const headers = { "x-forwarded-for": addresses.at(numAsked++) };
    const answer = await callOnce(url, { method: "GET", path, headers }, false).catch(() => null);
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
