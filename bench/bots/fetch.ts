import { Agent, request as requestOf, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequestOf } from "node:https";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { RequestCounts } from "../load/record.ts";

/** A request that a bot sent. */
export interface SentRequest {
  /** `X-Request-Id` */
  id: string;
  /** "POST /v1/embers/@me/awards" */
  name: string;
  /** 0 until an answer comes, and when none does. */
  status: number;
}

/** Requests that a bot remembers, to name the one that failed. */
const maxRecent = 16;
/** Below the 8 s after which the service closes an idle connection. */
const idleMs = 5_000;

/** Statuses of answers after which the published client tries again. */
const passing: ReadonlySet<number> = new Set([502, 503, 504]);
const withoutBody: ReadonlySet<number> = new Set([204, 304]);
const guestRequest = "POST /v1/gateway/guest";
/** The setting behind a refusal with 429: that of streams, or what scales the other limits; else its code. */
function limitSetting(request: string, code: string): string {
  if (code !== "rate_limit:exceeded") return code;
  return request === "GET /v1/hub" ? "HUB_STREAMS_PER_ADDRESS" : "RATE_LIMIT_FACTOR";
}

export const newCounts = (): RequestCounts => ({
  sent: 0,
  direct: 0,
  repeated: {},
  connections: 0,
  lostConnections: 0,
  limited: {},
  guests: 0,
});

/**
 * The `fetch` of one bot, for the published client: connections of its own, its own address, an `X-Request-Id` on every
 * request, and everything counted. On `node:http`, because Node's `fetch` takes several times as much processor time.
 */
export class BotFetch {
  readonly #name: string;
  readonly #port: string;
  readonly #counts: RequestCounts;
  readonly #headers: Record<string, string>;
  readonly #agents = {
    "http:": new Agent({ keepAlive: true, timeout: idleMs }),
    "https:": new SecureAgent({ keepAlive: true, timeout: idleMs }),
  };
  readonly #recent: SentRequest[] = [];
  #count = 0;
  #isGuest = false;
  #isClosed = false;
  /** Open event streams and their topics. */
  readonly #streams = new Map<IncomingMessage, string>();
  /** By topic: called when a stream that was cut is open again. */
  readonly #onReopened = new Map<string, () => void>();
  /** Connections that this side ended, or that the service announced to end. */
  readonly #left = new WeakSet<Socket>();

  /** `name` begins its request ids; `url` is that of the target; `address` is the client address for a trusting proxy, null: none is claimed. */
  constructor(name: string, url: string, address: string | null, counts: RequestCounts) {
    this.#name = name;
    this.#port = new URL(url).port;
    this.#counts = counts;
    this.#headers = address === null ? {} : { "x-forwarded-for": address };
  }

  /** The last remembered request that matches. */
  find(matches: (sent: SentRequest) => boolean): SentRequest | null {
    return this.#recent.findLast(matches) ?? null;
  }

  topics(): string[] {
    return [...this.#streams.values()];
  }

  /** Ends the connections of its event streams; each resolves to the milliseconds until the client has a new one. */
  cutStreams(): Promise<number>[] {
    return [...this.#streams].map(([response, topic]) => {
      const cutAt = performance.now();
      const { promise, resolve } = Promise.withResolvers<number>();
      this.#onReopened.set(topic, () => resolve(performance.now() - cutAt));
      this.#left.add(response.socket);
      response.socket.destroy();
      return promise;
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.port !== this.#port) this.#counts.direct += 1;
    const sent = this.#remember(`${init.method ?? "GET"} ${url.pathname}`);
    const asked = this.#open(url, init, sent.id);
    try {
      const response = await this.#answer(asked, init.signal ?? null);
      if (response.headers.connection === "close") this.#left.add(response.socket);
      sent.status = response.statusCode ?? 0;
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
      if (!isStream) return await this.#whole(response, sent);
      response.once("error", (error) => init.signal?.aborted || this.#lose(error));
      this.#opened(response, url.searchParams.get("topic") ?? "");
      return streamed(response);
    } catch (error) {
      if (!init.signal?.aborted) this.#lose(error);
      throw error;
    }
  };

  #remember(name: string): SentRequest {
    const sent = { id: `${this.#name}-${++this.#count}`, name, status: 0 };
    this.#counts.sent += 1;
    this.#recent.push(sent);
    if (this.#recent.length > maxRecent) this.#recent.shift();
    return sent;
  }

  #open(url: URL, init: RequestInit, id: string): ClientRequest {
    const isSecure = url.protocol === "https:";
    const asked = (isSecure ? secureRequestOf : requestOf)(url, {
      method: init.method ?? "GET",
      agent: this.#agents[isSecure ? "https:" : "http:"],
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...this.#headers,
        "x-request-id": id,
      },
    });
    asked.on("socket", (socket) => {
      if (!asked.reusedSocket) this.#watch(socket);
    });
    const { body } = init;
    asked.end(typeof body === "string" || body instanceof Uint8Array ? body : undefined);
    return asked;
  }

  #watch(socket: Socket): void {
    this.#counts.connections += 1;
    socket.setNoDelay(true);
    // Its agent has closed it if it was idle.
    socket.on("timeout", () => socket.destroyed && this.#left.add(socket));
    socket.once("close", () => {
      if (!this.#isClosed && !this.#left.has(socket)) this.#counts.lostConnections += 1;
    });
  }

  #opened(response: IncomingMessage, topic: string): void {
    this.#streams.set(response, topic);
    response.once("close", () => this.#streams.delete(response));
    this.#onReopened.get(topic)?.();
    this.#onReopened.delete(topic);
  }

  #answer(asked: ClientRequest, signal: AbortSignal | null): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (asked.socket) this.#left.add(asked.socket);
        asked.destroy(new DOMException("The request was aborted.", "AbortError"));
      };
      asked.once("response", resolve);
      // Also after the response: aborting an open stream destroys its connection.
      asked.on("error", reject);
      asked.once("close", () => signal?.removeEventListener("abort", stop));
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted) stop();
    });
  }

  async #whole(response: IncomingMessage, sent: SentRequest): Promise<Response> {
    const body = await buffer(response);
    const { status } = sent;
    if (passing.has(status)) this.#repeat(`${status}`);
    if (status === 200 && sent.name === guestRequest && !this.#isGuest) {
      this.#isGuest = true;
      this.#counts.guests += 1;
    }
    if (status === 429) this.#limit(sent, body.toString("utf8"));
    return new Response(withoutBody.has(status) ? null : body, {
      status,
      headers: headersOf(response),
    });
  }

  #lose(error: unknown): void {
    const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
    this.#repeat(code);
  }

  #repeat(reason: string): void {
    this.#counts.repeated[reason] = (this.#counts.repeated[reason] ?? 0) + 1;
  }

  #limit({ name }: SentRequest, text: string): void {
    const code = /"code":"([a-z_]+:[a-z_]+)"/.exec(text)?.[1] ?? "429";
    const key = `${name.replace(/\/[A-Z2-9]{6}(?=\/|$)/, "/{code}")}: ${limitSetting(name, code)}`;
    this.#counts.limited[key] = (this.#counts.limited[key] ?? 0) + 1;
  }
}

function streamed(response: IncomingMessage): Response {
  const body = Readable.toWeb(response) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Response(body, { status: response.statusCode ?? 0, headers: headersOf(response) });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return headers;
}
