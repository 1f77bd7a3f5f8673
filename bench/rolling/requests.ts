import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createRandom } from "../../test/support/random.ts";
import { Times, type Summary } from "../load/histogram.ts";
import { intendedArrivals } from "../load/shapes.ts";

/** One kind of request; 2xx is what it must answer. */
export interface AskedRequest {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** It cannot be answered without Postgres. */
  needsPostgres?: boolean;
}

export interface FailedRequest {
  asked: AskedRequest;
  /** "503 server:unavailable", "ECONNRESET on a kept connection" or "no answer in 10 s". */
  code: string;
  /** In milliseconds of `performance.now()`. */
  sentAt: number;
  failedAt: number;
}

export interface RequestResult {
  sent: number;
  failures: FailedRequest[];
  latency: Summary;
}

const answerLimitMs = 10_000;
/** A connection that is idle for longer is not used again: a balancer may be closing it (HAProxy after 10 s). */
const idleMs = 5_000;

/**
 * Sends requests at random times that do not depend on answers, without retries: the first of each kind on a kept
 * connection, the second on a fresh one, and so on, to each address in turn. A latency counts from the intended time.
 */
export class RequestLoad {
  readonly #urls: readonly string[];
  readonly #kinds: readonly AskedRequest[];
  readonly #perSecond: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32, timeout: idleMs });
  #failures: FailedRequest[] = [];
  #latency = new Times();
  #sent = 0;
  #isOver = false;
  readonly #open = new Set<Promise<void>>();
  readonly #ended: Promise<void>;

  constructor(urls: readonly string[], kinds: readonly AskedRequest[], perSecond: number) {
    this.#urls = urls;
    this.#kinds = kinds;
    this.#perSecond = perSecond;
    this.#ended = this.#run();
  }

  /** What was sent since the last call, after its answers. */
  async take(): Promise<RequestResult> {
    await Promise.all(this.#open);
    const [sent, failures, latency] = [this.#sent, this.#failures, this.#latency.summary()];
    [this.#sent, this.#failures, this.#latency] = [0, [], new Times()];
    return { sent, failures, latency };
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    const ways = 2 * this.#urls.length;
    const random = createRandom(2);
    const load = { shape: "poisson", perSecond: this.#perSecond, seconds: Infinity } as const;
    const startedAt = performance.now();
    for (const { atMs } of intendedArrivals(load, 1)) {
      const dueAt = startedAt + atMs;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await pause(waitMs);
      if (this.#isOver) break;
      const way = Math.floor(random() * ways * this.#kinds.length);
      const asked = this.#kinds[Math.floor(way / ways)];
      const url = this.#urls[(way >> 1) % this.#urls.length];
      if (asked === undefined || url === undefined) continue;
      const sent = this.#send(url, asked, way % 2 === 1, dueAt);
      this.#open.add(sent);
      void sent.finally(() => this.#open.delete(sent));
    }
    await Promise.all(this.#open);
  }

  async #send(url: string, asked: AskedRequest, isFresh: boolean, dueAt: number): Promise<void> {
    const [failures, latency] = [this.#failures, this.#latency];
    this.#sent += 1;
    const sentAt = performance.now();
    const code = await ask(url, asked, isFresh ? false : this.#agent);
    const now = performance.now();
    if (code === null) latency.record(now - dueAt);
    else failures.push({ asked, code, sentAt, failedAt: now });
  }
}

/** Resolves to what failed, or null. */
function ask(
  url: string,
  { method, path, headers = {}, body }: AskedRequest,
  agent: Agent | false,
): Promise<string | null> {
  return new Promise((resolve) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const asked = request(url + path, { method, agent, headers: { ...type, ...headers } });
    const limit = setTimeout(() => {
      resolve(`no answer in ${answerLimitMs / 1_000} s`);
      asked.destroy();
    }, answerLimitMs);
    const kind = agent === false ? "fresh" : "kept";
    asked.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(`${code ?? message} on a ${kind} connection`),
    );
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
