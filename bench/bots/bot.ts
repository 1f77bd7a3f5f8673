import { Emberline, EmberlineError, type Clock } from "../../server/web/client/emberline.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { DeadlineError } from "../load/deadline.ts";
import type { Played } from "../load/record.ts";
import type { Recorder } from "../load/recorder.ts";
import type { BotFetch } from "./fetch.ts";

/** What a bot needs of its process. */
export interface BotOptions {
  name: string;
  url: string;
  fetch: BotFetch;
  /** From 0 to below 1; the same seed makes the same choices. */
  random: () => number;
  recorder: Recorder;
  /** Ends its pauses when the run is over. */
  signal: AbortSignal;
  /** Default true; see the published client. */
  followOwner?: boolean;
}

/** Errors that are counted already, so that an arrival that fails with one does not count twice. */
const counted = new WeakSet<object>();
export const isCounted = (error: unknown): boolean =>
  typeof error === "object" && error !== null && counted.has(error);

/** One player: a guest with connections of its own, who uses the published client and takes time to think. */
export class Bot {
  readonly name: string;
  readonly client: Emberline;
  readonly random: () => number;
  /** The published client without an identity, as for registering and signing in. */
  readonly visitor: Emberline;
  readonly fetch: typeof fetch;
  readonly #options: BotOptions;

  constructor(options: BotOptions) {
    const { name, url, fetch, random, followOwner = true } = options;
    this.#options = options;
    this.name = name;
    this.random = random;
    this.fetch = fetch.fetch;
    const clientOptions = { url, fetch: fetch.fetch, clock: seededClock(random), followOwner };
    this.client = new Emberline(clientOptions);
    this.visitor = new Emberline({ ...clientOptions, accessToken: () => null });
  }

  /**
   * Measures an operation that is due at `dueAt` (`performance.now()`): response time from then, service time from now.
   * A failure is counted by its code and thrown on.
   */
  async measure<T>(operation: string, dueAt: number, work: () => Promise<T>): Promise<T> {
    const { recorder } = this.#options;
    const started = recorder.start(operation, dueAt);
    try {
      const result = await work();
      recorder.succeeded(started);
      return result;
    } catch (error) {
      recorder.failed(started, { bot: this.name, ...this.#failure(error) });
      if (typeof error === "object" && error !== null) counted.add(error);
      throw error;
    }
  }

  /** A time that this bot measured itself, in milliseconds. */
  figure(name: string, ms: number): void {
    this.#options.recorder.figure(name, ms);
  }

  /** `X-Request-Id` of its last request whose path ends so; null: it is too long ago. */
  requestId(path: string): string | null {
    return this.#options.fetch.find(({ name }) => name.endsWith(path))?.id ?? null;
  }

  /** The service broke a promise; the request is one that shows it. */
  violation(kind: string, text: string, requestId: string | null): void {
    this.#options.recorder.violation({ kind, text, bot: this.name, requestId });
  }

  /** A lobby was played to its end with these choices. */
  played(played: Played): void {
    this.#options.recorder.played(played);
  }

  /** A human pause between the two, in milliseconds; resolves to the time at which it was to end. */
  async pause(least: number, most: number): Promise<number> {
    const until = performance.now() + least + this.random() * (most - least);
    const { signal } = this.#options;
    await sleep(Math.max(0, until - performance.now()), undefined, { signal });
    return until;
  }

  /** Topics of its open event streams. */
  topics(): string[] {
    return this.#options.fetch.topics();
  }

  /** Cuts its event streams as a network does; each resolves to the milliseconds until it was open again. */
  cutStreams(): Promise<number>[] {
    return this.#options.fetch.cutStreams();
  }

  close(): void {
    this.#options.fetch.close();
  }

  #failure(error: unknown) {
    const { fetch } = this.#options;
    const failure = describe(error);
    const { status } = failure;
    const sent = fetch.find((one) => one.status === status) ?? fetch.find(() => true);
    return { ...failure, requestId: sent?.id ?? null, request: sent?.name ?? null };
  }
}

/** Status and code of any failure; status 0 without an answer. */
export function describe(error: unknown): { status: number; code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof EmberlineError) return { status: error.status, code: error.code, message };
  if (error instanceof DeadlineError) return { status: 0, code: "bench:deadline", message };
  const name = error instanceof Error ? error.name : "unknown";
  return { status: 0, code: `bench:${name}`, message };
}

/** Real time, seeded randomness. */
const seededClock = (random: () => number): Clock => ({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random,
  sleep: async (ms, signal) => {
    const most = Math.min(ms, 2 ** 31 - 1);
    await sleep(most, undefined, signal ? { signal } : {}).catch(() => undefined);
  },
});
