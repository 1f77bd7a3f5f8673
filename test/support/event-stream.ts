import { setTimeout as wait } from "node:timers/promises";

/** A received frame; comments are left out. */
export interface Frame {
  id: string | null;
  event: string;
  data: unknown;
}

/** The content of a lobby's frame (HUB-03). */
export interface LobbyMessage {
  type: string;
  topic: string;
  seq: number;
  at_ms: number;
  data: Record<string, unknown>;
}

interface Watcher {
  matches: (frame: Frame) => boolean;
  resolve: (frame: Frame) => void;
  reject: (error: Error) => void;
}

export interface StreamOptions {
  token?: string;
  lastEventId?: string;
  headers?: Record<string, string>;
  /** Reconnect after an end or a failure, like EventSource; default true. */
  reconnect?: boolean;
  retryMs?: number;
}

export function openStream(url: string, options: StreamOptions = {}): EventStream {
  return new EventStream(url, options);
}

/** An event stream client that stores every frame and, like a browser, reconnects with the last id. */
export class EventStream {
  readonly frames: Frame[] = [];
  /** Statuses other than 200, each of which would be final for a browser. */
  readonly refusals: number[] = [];
  /** Resolves when the server has ended the stream and no reconnect follows. */
  readonly ended: Promise<void>;
  lastEventId: string | null;
  readonly #url: string;
  readonly #options: StreamOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #abort = new AbortController();
  #numComments = 0;
  #numConnections = 0;

  constructor(url: string, options: StreamOptions) {
    this.#url = url;
    this.#options = options;
    this.lastEventId = options.lastEventId ?? null;
    this.ended = this.#run().catch((error: unknown) => {
      for (const watcher of this.#watchers)
        watcher.reject(error instanceof Error ? error : new Error(String(error)));
      throw error;
    });
    this.ended.catch(() => undefined);
  }

  /** Number of received comment lines. */
  comments(): number {
    return this.#numComments;
  }

  /** Number of connections opened. */
  connections(): number {
    return this.#numConnections;
  }

  close(): void {
    this.#abort.abort();
  }

  /** The first matching frame, past or future; rejects after `timeoutMs`. */
  waitFor(matches: (frame: Frame) => boolean, what: string, timeoutMs = 60_000): Promise<Frame> {
    const known = this.frames.find(matches);
    if (known) return Promise.resolve(known);
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    const watcher: Watcher = { matches, resolve, reject };
    this.#watchers.add(watcher);
    const timer = setTimeout(() => {
      const seen = this.frames.map(({ event, id }) => `${event}#${id}`).join(" ");
      reject(new Error(`no ${what} within ${timeoutMs} ms; saw ${seen}`));
    }, timeoutMs);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#watchers.delete(watcher);
    });
  }

  async #run(): Promise<void> {
    const { reconnect = true, retryMs = 50 } = this.#options;
    while (!this.#abort.signal.aborted) {
      try {
        await this.#connect();
      } catch (error) {
        if (error instanceof StreamRefused && !reconnect) throw error;
      }
      if (!reconnect) return;
      // A stream left behind by a failed test does not keep its process alive.
      await wait(retryMs, undefined, { ref: false });
    }
  }

  async #connect(): Promise<void> {
    this.#numConnections += 1;
    const { token } = this.#options;
    const headers: Record<string, string> = {
      accept: "text/event-stream",
      ...this.#options.headers,
    };
    if (token) headers["authorization"] = `Bearer ${token}`;
    if (this.lastEventId !== null) headers["last-event-id"] = this.lastEventId;
    const response = await fetch(this.#url, { headers, signal: this.#abort.signal });
    if (response.status !== 200) this.refusals.push(response.status);
    if (response.status !== 200 || !response.body)
      throw new StreamRefused(response.status, await response.text());
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#accept(part);
    }
  }

  #accept(text: string): void {
    const frame: Frame = { id: null, event: "message", data: null };
    let data = "";
    for (const line of text.split("\n")) {
      if (line.startsWith(":")) this.#numComments += 1;
      const colon = line.indexOf(": ");
      const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 2)];
      if (name === "id") frame.id = value;
      if (name === "event") frame.event = value;
      if (name === "data") data += value;
    }
    if (frame.id !== null) this.lastEventId = frame.id;
    if (data === "") return;
    frame.data = JSON.parse(data);
    this.frames.push(frame);
    for (const watcher of this.#watchers) if (watcher.matches(frame)) watcher.resolve(frame);
  }
}

/** The server did not respond with an event stream. */
export class StreamRefused extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(`stream refused with ${status}: ${text}`);
    this.status = status;
  }
}
