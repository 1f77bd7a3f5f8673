import { EmberlineError, errorOf, unreadableStream } from "./errors.ts";
import { brokenStream, createEventParser, type Frame } from "./event-parser.ts";
import type { Link } from "./request.ts";

const hubPath = "/v1/hub";
/** The service sends a comment every 15 s; a connection silent for two intervals is dead. */
export const silenceMs = 35_000;

export interface Target {
  url: string;
  topic: string;
  token: string | null;
  lastEventId: string | null;
  /** Opening the stream is a request like any other: a frozen server process is abandoned for another one. */
  limitMs: number;
}

/** Its chunks are not named: their type is generic from TypeScript 5.7 on, and was not before. */
type Body = NonNullable<Response["body"]>;

/** One connection of a stream, from its request to its end. */
export class Connection {
  readonly target: Target;
  /** When it was accepted; null before that. */
  openedAt: number | null = null;
  /** Sent by the service: how long to wait before the next connection. */
  retryMs: number | null = null;
  readonly #link: Link;
  readonly #controller = new AbortController();
  #body: Body | null = null;
  #isLeft = false;
  /** When bytes came last, by both clocks: a monotonic one may stand still while the device sleeps. */
  #heard: { elapsed: number; now: number };
  /** Time spent by the consumer does not count as silence. */
  #isWaiting = true;

  constructor(link: Link, target: Target) {
    this.#link = link;
    this.target = target;
    this.#heard = this.#time();
  }

  get isOpen(): boolean {
    return this.openedAt !== null && !this.#controller.signal.aborted;
  }

  get silentMs(): number {
    if (!this.#isWaiting) return 0;
    const { elapsed, now } = this.#time();
    return Math.max(elapsed - this.#heard.elapsed, now - this.#heard.now);
  }

  /** Resolves when the service has accepted the stream. */
  async open(): Promise<void> {
    void this.#endWhenSilent();
    try {
      this.#body = await this.#request();
    } catch (cause) {
      this.#controller.abort();
      throw cause instanceof EmberlineError ? cause : cut(cause);
    }
    this.#hear();
    this.openedAt = this.#heard.elapsed;
  }

  /** The frames, until the service ends the connection in order or this side leaves it. */
  async *frames(): AsyncGenerator<Frame, void, undefined> {
    const { signal } = this.#controller;
    try {
      const reader = readerUntil(this.#body, signal);
      const decoder = new TextDecoder();
      const parse = createEventParser();
      for (;;) {
        this.#hear();
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        this.#hear();
        this.#isWaiting = false;
        if (done) return;
        const { frames, retryMs } = parse(decoder.decode(value, { stream: true }));
        if (retryMs !== null) this.retryMs = retryMs;
        yield* frames;
      }
    } catch (cause) {
      if (this.#isLeft) return;
      throw cause instanceof EmberlineError ? cause : cut(cause);
    } finally {
      this.#controller.abort();
    }
  }

  /** Leaves the connection: its frames end after those that were received. */
  leave(): void {
    this.#isLeft = true;
    this.#controller.abort();
  }

  /** Gives the connection up as one that was cut. */
  giveUp(): void {
    this.#controller.abort();
  }

  #time() {
    const { clock } = this.#link;
    return { elapsed: clock.elapsed(), now: clock.now() };
  }

  #hear(): void {
    this.#heard = this.#time();
    this.#isWaiting = true;
  }

  async #request(): Promise<Body> {
    const { target } = this;
    const link = this.#link;
    const { token, lastEventId } = target;
    if (!link.runtime.hasReadableBodies) throw unreadableStream();
    const address = `${target.url}${hubPath}?topic=${encodeURIComponent(target.topic)}`;
    const response = await link.fetch(address, {
      headers: {
        Accept: "text/event-stream",
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
      },
      ...link.request,
      signal: this.#controller.signal,
    });
    link.owner?.learn(response.headers);
    if (!response.ok) throw errorOf(response, await response.text());
    const type = response.headers.get("Content-Type") ?? "";
    if (response.status !== 200 || !type.startsWith("text/event-stream"))
      throw brokenStream("The service did not answer with an event stream.");
    if (!response.body) throw unreadableStream();
    return response.body;
  }

  /** Ends a connection that receives not even a comment. */
  async #endWhenSilent(): Promise<void> {
    const { clock } = this.#link;
    const { signal } = this.#controller;
    while (!signal.aborted) {
      const limitMs = this.openedAt === null ? this.target.limitMs : silenceMs;
      const silentMs = this.#isWaiting ? clock.elapsed() - this.#heard.elapsed : 0;
      if (silentMs >= limitMs) return this.#controller.abort();
      await clock.sleep(limitMs - silentMs, signal);
    }
  }
}

const cut = (cause: unknown) => brokenStream("The event stream was cut.", cause);

/**
 * Cancels the reader with the signal. Aborting the request is not enough: in Node 22, a body that ended and was aborted
 * between two reads never settles the next one.
 */
function readerUntil(body: Body | null, signal: AbortSignal) {
  if (body === null) throw brokenStream("The event stream is not open.");
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  return reader;
}
