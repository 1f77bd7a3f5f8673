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

/** An event stream client that stores every frame and, like a browser, reconnects with the last id. */
export interface EventStream {
  readonly frames: Frame[];
  /** Number of received comment lines. */
  comments(): number;
  /** Number of connections opened. */
  connections(): number;
  readonly lastEventId: string | null;
  /** Statuses other than 200, each of which would be final for a browser. */
  readonly refusals: number[];
  /** The first matching frame, past or future; rejects after `timeoutMs`. */
  waitFor(matches: (frame: Frame) => boolean, what: string, timeoutMs?: number): Promise<Frame>;
  /** Resolves when the server has ended the stream and no reconnect follows. */
  ended: Promise<void>;
  close(): void;
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
  const frames: Frame[] = [];
  const refusals: number[] = [];
  const watchers = new Set<Watcher>();
  const abort = new AbortController();
  let lastEventId = options.lastEventId ?? null;
  let comments = 0;
  let connections = 0;

  function accept(text: string): void {
    const frame: Frame = { id: null, event: "message", data: null };
    let data = "";
    for (const line of text.split("\n")) {
      if (line.startsWith(":")) comments += 1;
      const colon = line.indexOf(": ");
      const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 2)];
      if (name === "id") frame.id = value;
      if (name === "event") frame.event = value;
      if (name === "data") data += value;
    }
    if (frame.id !== null) lastEventId = frame.id;
    if (data === "") return;
    frame.data = JSON.parse(data);
    frames.push(frame);
    for (const watcher of watchers) if (watcher.matches(frame)) watcher.resolve(frame);
  }

  async function connect(): Promise<void> {
    connections += 1;
    const headers: Record<string, string> = { accept: "text/event-stream", ...options.headers };
    if (options.token) headers["authorization"] = `Bearer ${options.token}`;
    if (lastEventId !== null) headers["last-event-id"] = lastEventId;
    const response = await fetch(url, { headers, signal: abort.signal });
    if (response.status !== 200) refusals.push(response.status);
    if (response.status !== 200 || !response.body)
      throw new StreamRefused(response.status, await response.text());
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) accept(part);
    }
  }

  async function run(): Promise<void> {
    while (!abort.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        if (error instanceof StreamRefused && options.reconnect === false) throw error;
      }
      if (options.reconnect === false) return;
      // A stream left behind by a failed test does not keep its process alive.
      await wait(options.retryMs ?? 50, undefined, { ref: false });
    }
  }

  const ended = run().catch((error: unknown) => {
    for (const watcher of watchers)
      watcher.reject(error instanceof Error ? error : new Error(String(error)));
    throw error;
  });
  ended.catch(() => undefined);

  return {
    frames,
    refusals,
    comments: () => comments,
    connections: () => connections,
    get lastEventId() {
      return lastEventId;
    },
    waitFor(matches, what, timeoutMs = 60_000) {
      const known = frames.find(matches);
      if (known) return Promise.resolve(known);
      return new Promise<Frame>((resolve, reject) => {
        const watcher: Watcher = {
          matches,
          resolve: (frame) => {
            done();
            resolve(frame);
          },
          reject: (error) => {
            done();
            reject(error);
          },
        };
        const timer = setTimeout(
          () =>
            watcher.reject(
              new Error(
                `no ${what} within ${timeoutMs} ms; saw ${frames.map((f) => `${f.event}#${f.id}`).join(" ")}`,
              ),
            ),
          timeoutMs,
        );
        const done = () => {
          clearTimeout(timer);
          watchers.delete(watcher);
        };
        watchers.add(watcher);
      });
    },
    ended,
    close: () => abort.abort(),
  };
}

/** The server did not respond with an event stream. */
export class StreamRefused extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(`stream refused with ${status}: ${text}`);
    this.status = status;
  }
}
