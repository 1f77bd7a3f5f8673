import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EmberlineError, type Clock } from "../../../../server/web/client/emberline.ts";

export interface Seen {
  method: string;
  path: string;
  key: string | undefined;
  lastEventId: string | undefined;
  authorization: string | undefined;
  body: string;
}

type Handler = (response: ServerResponse, seen: Seen, number: number) => void;

/** A scripted server with one handler for all requests, which records them. */
export async function startFaulty(handle: Handler) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const one = {
        method: request.method ?? "",
        path: request.url ?? "",
        key: request.headers["idempotency-key"]?.toString(),
        lastEventId: request.headers["last-event-id"]?.toString(),
        authorization: request.headers.authorization,
        body,
      };
      seen.push(one);
      handle(response, one, seen.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

export function answer(response: ServerResponse, status: number, body: unknown, retryAfter = "") {
  const headers = {
    "Content-Type": "application/json",
    ...(retryAfter ? { "Retry-After": retryAfter } : {}),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

export const refusal = (code: string, params = {}) => ({
  flash: { errors: [{ code, message: `refused: ${code}`, params }] },
});

/** Whether the client failed with this code, for `assert.rejects`. */
export const refusedWith = (code: string) => (error: unknown) =>
  error instanceof EmberlineError && error.code === code;

const foreign = [
  [404, "text/plain", "404 page not found"],
  [403, "text/html", "<h1>Request blocked</h1>"],
  [429, "application/json", '{"message":"API rate limit exceeded"}'],
  [401, "text/html", "<h1>Authorization Required</h1>"],
  [408, "application/json", '{"flash":{"errors":["stream timeout"]}}'],
] as const;

/** Responses of load balancers, firewalls and API gateways without a backend. */
export const statusesFromElsewhere = foreign.map(([status]) => status);

/** Refuses like an intermediary, in a different way each `turn`; a 429 asks for two seconds. */
export function answerFromElsewhere(response: ServerResponse, turn: number) {
  const [status, type, text] = foreign[turn % foreign.length] ?? foreign[0];
  const pause = status === 429 ? { "Retry-After": "2" } : {};
  response.writeHead(status, { "Content-Type": type, ...pause }).end(text);
}

interface Sleeper {
  at: number;
  wake: () => void;
}

/**
 * A clock that runs only while no request is pending: pauses between attempts pass immediately, timeouts of
 * attempts on request of the test.
 */
export function virtualClock(random = () => 0.5) {
  const sleepers = new Set<Sleeper>();
  const pauses: number[] = [];
  let now = 1_000_000;
  let wallStep = 0;
  let underWay = 0;
  const wakeUntil = (time: number) => {
    now = Math.max(now, time);
    for (const sleeper of sleepers) if (sleeper.at <= now) sleeper.wake();
  };
  const clock: Clock = {
    now: () => now + wallStep,
    elapsed: () => now,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const at = now + ms;
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { at, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake);
        setImmediate(() => {
          if (underWay > 0 || signal?.aborted || !sleepers.has(sleeper)) return;
          pauses.push(ms);
          wakeUntil(at);
        });
      }),
  };
  const counted: typeof fetch = async (input, init) => {
    underWay += 1;
    try {
      const response = await fetch(input, init);
      // A 204 must not have a body, not even an empty one.
      return new Response((await response.text()) || null, response);
    } finally {
      underWay -= 1;
    }
  };
  return {
    clock,
    fetch: counted,
    /** Elapsed pauses, in milliseconds. */
    pauses,
    pass: (ms: number) => wakeUntil(now + ms),
    setBack: (ms: number) => (wallStep -= ms),
  };
}
