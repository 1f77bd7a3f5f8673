import { EmberlineError, errorOf, unreadableStream } from "./errors.ts";
import { brokenStream, createEventParser, type Frame } from "./event-parser.ts";
import type { CallOptions, Clock, StreamOptions } from "./options.ts";
import { tryLimitOf, urlNow, type Link } from "./request.ts";
import { linked, pauseAfter } from "./timing.ts";

const hubPath = "/v1/hub";
/** The service sends a comment every 15 s; a connection silent for two intervals is dead. */
export const silenceMs = 35_000;
/** Default until the service sends a reconnect time. */
const defaultRetryMs = 2_000;
/** A connection that lasted this long, or delivered an event, resets the number of failures. */
const soundMs = 5_000;

export interface StreamSource {
  /** Called until the topic is known; null if no event can follow the last one received. */
  findTopic: (options: CallOptions) => Promise<string | null>;
  /** A cached token; replaced when refused. */
  token: string | null;
  /** Gets a new hub token; null if the topic needs none. */
  readToken: ((options: CallOptions) => Promise<string>) | null;
}

/** Its chunks are not named: their type is generic from TypeScript 5.7 on, and was not before. */
type Body = NonNullable<Response["body"]>;

/** State of a stream across its connections. */
interface StreamMemory {
  topic: string | null;
  lastEventId: string | null;
  retryMs: number;
  token: string | null;
  failures: number;
  /** When the current connection was accepted. */
  openedAt: number | null;
  /** Target of the current connection. */
  url: string;
  /** The client closed the current connection to continue on another port. */
  isMoved: boolean;
}

/** The frames of one connection; returns when the service ends it in order. */
async function* readConnection(
  link: Link,
  topic: string,
  memory: StreamMemory,
  options: StreamOptions,
): AsyncGenerator<Frame, void, undefined> {
  const { clock } = link;
  const { onState } = options;
  const { controller, unlink } = linked(options.signal);
  memory.url = urlNow(link);
  memory.isMoved = false;
  const stay = link.owner?.onMove(() => {
    memory.isMoved = true;
    controller.abort();
  });
  // Opening the stream is a request like any other: a frozen server process is abandoned for another one.
  const limitMs = tryLimitOf(link, memory.url);
  const alive = { at: clock.elapsed(), isWaiting: true, limitMs };
  void endWhenSilent(clock, controller, alive);
  try {
    const body = await openConnection(link, topic, memory, controller.signal);
    alive.limitMs = silenceMs;
    memory.openedAt = clock.elapsed();
    onState?.("open");
    const reader = readerUntil(body, controller.signal);
    const decoder = new TextDecoder();
    const parse = createEventParser();
    for (;;) {
      Object.assign(alive, { at: clock.elapsed(), isWaiting: true });
      const { done, value } = await reader.read();
      controller.signal.throwIfAborted();
      alive.isWaiting = false;
      if (done) return;
      const { frames, retryMs } = parse(decoder.decode(value, { stream: true }));
      if (retryMs !== null) memory.retryMs = retryMs;
      yield* frames;
    }
  } catch (cause) {
    if (cause instanceof EmberlineError) throw cause;
    options.signal?.throwIfAborted();
    if (!memory.isMoved) throw brokenStream("The event stream was cut.", cause);
  } finally {
    stay?.();
    controller.abort();
    unlink();
  }
}

/**
 * Cancels the reader with the signal. Aborting the request is not enough: in Node 22, a body that ended and was aborted
 * between two reads never settles the next one.
 */
function readerUntil(body: Body, signal: AbortSignal) {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  return reader;
}

/** Ends a connection that receives not even a comment; time spent by the consumer does not count. */
async function endWhenSilent(
  clock: Clock,
  controller: AbortController,
  alive: { at: number; isWaiting: boolean; limitMs: number },
): Promise<void> {
  while (!controller.signal.aborted) {
    const { at, isWaiting, limitMs } = alive;
    const leftMs = isWaiting ? limitMs - (clock.elapsed() - at) : limitMs;
    if (leftMs <= 0) return controller.abort();
    await clock.sleep(leftMs, controller.signal);
  }
}

async function openConnection(
  link: Link,
  topic: string,
  { token, lastEventId, url }: StreamMemory,
  signal: AbortSignal,
): Promise<Body> {
  if (!link.runtime.hasReadableBodies) throw unreadableStream();
  const response = await link.fetch(`${url}${hubPath}?topic=${encodeURIComponent(topic)}`, {
    headers: {
      Accept: "text/event-stream",
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
    },
    ...link.request,
    signal,
  });
  link.owner?.learn(response.headers);
  if (!response.ok) throw errorOf(response, await response.text());
  const type = response.headers.get("Content-Type") ?? "";
  if (response.status !== 200 || !type.startsWith("text/event-stream"))
    throw brokenStream("The service did not answer with an event stream.");
  if (!response.body) throw unreadableStream();
  return response.body;
}

/** Parses a frame; text that is not JSON was damaged on the way. */
function parseMessage(frame: Frame): unknown {
  try {
    return JSON.parse(frame.data);
  } catch (cause) {
    throw brokenStream("An event could not be read.", cause);
  }
}

/** True if the service refuses the stream itself, or no stream can be read; failures of the service are temporary. */
const isRefused = ({ status, isPassing }: EmberlineError) => status < 500 && !isPassing;

/**
 * The messages of a topic over as many connections as necessary. Ends with the signal; throws if the
 * service refuses permanently.
 */
export async function* readTopic(
  link: Link,
  source: StreamSource,
  options: StreamOptions,
): AsyncGenerator<{ event: string; message: unknown }, void, undefined> {
  const { clock } = link;
  const { onState } = options;
  const callOptions = options.signal ? { signal: options.signal } : {};
  const memory: StreamMemory = {
    topic: null,
    lastEventId: options.lastEventId ?? null,
    retryMs: defaultRetryMs,
    token: source.token,
    failures: 0,
    openedAt: null,
    url: link.url,
    isMoved: false,
  };
  while (!options.signal?.aborted) {
    if (!memory.isMoved) onState?.("connecting");
    Object.assign(memory, { isMoved: false, openedAt: null, url: link.url });
    const wasKnown = memory.token !== null;
    let retryAfterMs: number | null = null;
    let isElsewhere = false;
    try {
      memory.topic ??= await source.findTopic(callOptions);
      if (memory.topic === null) return;
      memory.token ??= (await source.readToken?.(callOptions)) ?? null;
      await link.owner?.settled;
      for await (const frame of readConnection(link, memory.topic, memory, options)) {
        if (options.signal?.aborted) return;
        const message = frame.data === "" ? null : parseMessage(frame);
        memory.failures = 0;
        if (frame.id !== null) memory.lastEventId = frame.id === "" ? null : frame.id;
        if (message !== null) yield { event: frame.event, message };
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof EmberlineError)) throw error;
      const isOutdated = wasKnown && [401, 403].includes(error.status);
      if (isRefused(error) && !isOutdated) throw error;
      if (isOutdated) memory.token = null;
      retryAfterMs = error.retryAfterMs;
      isElsewhere = error.status === 0 && link.owner?.leave(memory.url) === true;
    }
    if (memory.isMoved) continue;
    onState?.("lost");
    if (isElsewhere) continue;
    const livedMs = clock.elapsed() - (memory.openedAt ?? clock.elapsed());
    if (livedMs >= soundMs) memory.failures = 0;
    const pauseMs = pauseAfter(memory.failures++, clock.random(), retryAfterMs, memory.retryMs);
    await clock.sleep(pauseMs, options.signal);
  }
}
