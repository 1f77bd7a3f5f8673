import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { poissonArrivals } from "../open-load/arrivals.ts";
import { LatencyHistogram, type LatencySummary } from "../open-load/histogram.ts";

/** One kind of request; 2xx is what it must answer. */
export interface AskedRequest {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface RequestResult {
  sent: number;
  /** "503 server:unavailable", "ECONNRESET" or "no answer in 10 s" -> how often. */
  failures: Map<string, number>;
  latency: LatencySummary;
}

const answerLimitMs = 10_000;

/**
 * Sends requests at random times that do not depend on answers, without retries: the first of each kind on a kept
 * connection, the second on a fresh one, and so on. A latency counts from the intended time.
 */
export class RequestLoad {
  readonly #url: string;
  readonly #kinds: readonly AskedRequest[];
  readonly #perSecond: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });
  #failures = new Map<string, number>();
  #latency = new LatencyHistogram();
  #sent = 0;
  #isOver = false;
  readonly #open = new Set<Promise<void>>();
  readonly #ended: Promise<void>;

  constructor(url: string, kinds: readonly AskedRequest[], perSecond: number) {
    this.#url = url;
    this.#kinds = kinds;
    this.#perSecond = perSecond;
    this.#ended = this.#run();
  }

  /** What was sent since the last call, after its answers. */
  async take(): Promise<RequestResult> {
    await Promise.all(this.#open);
    const result = {
      sent: this.#sent,
      failures: this.#failures,
      latency: this.#latency.summary(),
    };
    [this.#sent, this.#failures, this.#latency] = [0, new Map(), new LatencyHistogram()];
    return result;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    const arrivals = poissonArrivals({
      ...{ perSecond: this.#perSecond, seconds: Infinity, seed: 1 },
      rooms: 2 * this.#kinds.length,
    });
    const startedAt = performance.now();
    for (const { atMs, room } of arrivals) {
      const dueAt = startedAt + atMs;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await pause(waitMs);
      if (this.#isOver) break;
      const kind = this.#kinds[room >> 1];
      if (kind === undefined) continue;
      const asked = this.#send(kind, room % 2 === 1, dueAt);
      this.#open.add(asked);
      void asked.finally(() => this.#open.delete(asked));
    }
    await Promise.all(this.#open);
  }

  async #send(kind: AskedRequest, isFresh: boolean, dueAt: number): Promise<void> {
    const [failures, latency] = [this.#failures, this.#latency];
    this.#sent += 1;
    const failure = await this.#ask(kind, isFresh);
    if (failure === null) latency.record(performance.now() - dueAt);
    else failures.set(failure, (failures.get(failure) ?? 0) + 1);
  }

  /** Resolves to what failed, or null. */
  #ask({ method, path, headers = {}, body }: AskedRequest, isFresh: boolean) {
    return new Promise<string | null>((resolve) => {
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const agent = isFresh ? false : this.#agent;
      const asked = request(this.#url + path, { method, agent, headers: { ...type, ...headers } });
      const limit = setTimeout(() => {
        resolve(`no answer in ${answerLimitMs / 1_000} s`);
        asked.destroy();
      }, answerLimitMs);
      asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      asked.on("close", () => clearTimeout(limit));
      asked.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", (error) => resolve(error.message));
        response.on("end", () => {
          const { statusCode = 0 } = response;
          const code = /"code":"([^"]+)"/.exec(text)?.[1] ?? "";
          resolve(statusCode < 300 ? null : `${statusCode} ${code}`.trim());
        });
      });
      asked.end(body);
    });
  }
}
