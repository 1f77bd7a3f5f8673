import { EmberlineError, errorOf, notOurs, parseEnvelope, unreachable } from "./errors.ts";
import type { CallOptions, Clock, EmberlineOptions } from "./options.ts";
import type { PageSignals } from "./page-signals.ts";
import { linked, pauseAfter } from "./timing.ts";

/** `crypto.randomUUID` is missing without https, for example on a phone that uses an IP address. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Timeout of one attempt; a frozen server process is then abandoned for another one. */
const tryMs = 8_000;
/** The same on the port of one worker: after two seconds another worker takes over the lobbies of a frozen one. */
export const ownerTryMs = 3_000;
export const callDeadlineMs = 30_000;
/** Drawing questions may take the service 20 s. */
export const startTryMs = 35_000;
export const startDeadlineMs = 60_000;

/** How the requests of a client, or of one lobby, reach the service. */
export interface Link {
  /** Of the port that all workers share. */
  url: string;
  fetch: typeof fetch;
  clock: Clock;
  /** Spread into a request, because Node's types do not include `cache`. */
  request: Required<Pick<EmberlineOptions, "credentials" | "cache">>;
  /** Makes the route to the owner of one lobby; null: owners are not followed. */
  followOwner: (() => Route) | null;
  /** What is known of the runtime, shared by all lobbies of a client. */
  runtime: { hasReadableBodies: boolean };
  /** Route to the owner of one lobby; null for requests without a lobby. */
  owner: Route | null;
  page: PageSignals;
}

/** Where the requests of one lobby go. */
export interface Route {
  readonly url: string;
  /** Resolves when the named port is in use or known as unreachable, after one second at most. */
  readonly settled: Promise<void>;
  /** Reads the owner's port from a response; without the header nothing changes. */
  learn(headers: Headers): void;
  /** A request to `url` failed without a response; true when it may be retried on another port at once. */
  leave(url: string): boolean;
  /** Calls the listener after each change of the port, until the returned function is called. */
  onMove(listener: () => void): () => void;
}

/** True in React Native, whose own `fetch` hands over a response when it is complete. */
export const lacksReadableBodies = () =>
  typeof Response === "function" && !("body" in new Response());

export const urlNow = ({ url, owner }: Link) => owner?.url ?? url;
export const tryLimitOf = (link: Link, url: string) => (url === link.url ? tryMs : ownerTryMs);

export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  tryMs?: number;
  /** What identifies a success of the service; by default an envelope with a `body`. */
  brings?: "sheet" | "hubToken" | "anything";
}

const hubTokenHeader = "X-Hub-Token";

export interface Answer {
  text: string;
  version: unknown;
  body: unknown;
  headers: Headers;
}

/** The `body` of the envelope, in the shape that the service declares. */
export function bodyOf<T>(answer: Answer): T {
  return answer.body as T;
}

/**
 * Reads a success. Captive portals and proxies also respond with 200 or 204: such a response counts as a
 * network failure, because nothing was done.
 */
function answerOf({ status, headers }: Response, text: string, brings: Call["brings"]): Answer {
  const { version, code, meta, body } = parseEnvelope(text);
  const hasBody = body !== undefined;
  const isOwn = {
    body: hasBody,
    sheet: (headers.get("Content-Type") ?? "").startsWith("text/csv"),
    hubToken: headers.has(hubTokenHeader),
    anything: hasBody || status === 204 || (code === status && meta !== undefined),
  };
  if (!isOwn[brings ?? "body"]) throw notOurs(status);
  return { text, version, body, headers };
}

export async function sendOnce(
  link: Link,
  call: Call,
  limitMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  // A body that cannot be serialized is a mistake of the caller, not a network failure.
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  const { controller, unlink } = linked(signal);
  const done = new AbortController();
  let isLate = false;
  void link.clock.sleep(limitMs, done.signal).then(() => {
    isLate = !done.signal.aborted;
    controller.abort();
  });
  try {
    const response = await link.fetch(urlNow(link) + call.path, {
      method: call.method,
      headers: {
        ...(body === null ? {} : { "Content-Type": "application/json" }),
        ...call.headers,
      },
      ...link.request,
      signal: controller.signal,
      body,
    });
    link.owner?.learn(response.headers);
    if (response.body === undefined && lacksReadableBodies())
      link.runtime.hasReadableBodies = false;
    const text = await response.text();
    if (!response.ok) throw errorOf(response, text);
    return answerOf(response, text, call.brings);
  } catch (cause) {
    if (cause instanceof EmberlineError) throw cause;
    signal?.throwIfAborted();
    throw isLate
      ? new EmberlineError(0, "network:timeout", "The service does not answer.", { cause })
      : unreachable(cause);
  } finally {
    done.abort();
    unlink();
  }
}

/** Repeats the same call while it fails for a temporary reason, until the deadline. */
export async function send(link: Link, call: Call, options: CallOptions = {}): Promise<Answer> {
  const { clock } = link;
  const deadlineAt = clock.elapsed() + (options.deadlineMs ?? callDeadlineMs);
  for (let attempt = 0; ; attempt++) {
    options.signal?.throwIfAborted();
    const url = urlNow(link);
    const mostMs = call.tryMs ?? tryLimitOf(link, url);
    const limitMs = Math.max(1, Math.min(mostMs, deadlineAt - clock.elapsed()));
    try {
      return await sendOnce(link, call, limitMs, options.signal);
    } catch (error) {
      if (!(error instanceof EmberlineError) || !error.isPassing) throw error;
      const isElsewhere = error.status === 0 && link.owner?.leave(url);
      if (isElsewhere && clock.elapsed() < deadlineAt) continue;
      const pauseMs = pauseAfter(attempt, clock.random(), error.retryAfterMs);
      if (clock.elapsed() + pauseMs >= deadlineAt) throw error;
      await clock.sleep(pauseMs, options.signal);
    }
  }
}

/** A call that changes something: its key makes repeats idempotent. */
export function sendKeyed(link: Link, call: Call, options: CallOptions = {}): Promise<Answer> {
  const headers = { ...call.headers, "Idempotency-Key": options.key ?? randomKey() };
  return send(link, { ...call, headers }, options);
}

/** Requests a stream token, which arrives in a header. */
export async function readHubToken(link: Link, call: Call, options?: CallOptions): Promise<string> {
  const { headers } = await send(link, { ...call, brings: "hubToken" }, options);
  return headers.get(hubTokenHeader) ?? "";
}

/** Waits for work shared with other callers: signal and deadline end the wait, but not the work. */
export async function waitFor<T>(clock: Clock, work: Promise<T>, options: CallOptions): Promise<T> {
  const { controller, unlink } = linked(options.signal);
  const limit = clock.sleep(options.deadlineMs ?? callDeadlineMs, controller.signal).then(() => {
    options.signal?.throwIfAborted();
    throw new EmberlineError(0, "network:timeout", "The service does not answer.");
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    controller.abort();
    unlink();
  }
}
