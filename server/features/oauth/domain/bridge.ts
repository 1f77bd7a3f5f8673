import type { IncomingMessage, ServerResponse } from "node:http";
import { sessionCookie } from "./constants.ts";
import { withHashedSecret } from "./hashed-secrets.ts";

/** A request for the protocol library, as data. */
export interface OAuthRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | null;
}

export interface OAuthAnswer {
  status: number;
  type: string;
  body: Uint8Array;
  headers: [name: string, value: string][];
}

export type Dispatch = (request: IncomingMessage, response: ServerResponse) => void;

/** Request headers passed to the library; the bridge itself sets host and scheme (S23). */
const seenHeaders = ["authorization", "content-type", "cookie", "accept"];
/** Response headers passed to clients; the pipeline sets all others, CORS included. */
const passedHeaders = ["location", "set-cookie", "www-authenticate", "cache-control"];

/** Calls a node:http handler inside this process, without a socket. `base` is our public address. */
export async function callHandler(
  dispatch: Dispatch,
  request: OAuthRequest,
  base: URL,
): Promise<OAuthAnswer> {
  const { method, target, headers, body } = withHashedSecret(request);
  const payload = method === "POST" && body !== null && body.length > 0 ? Buffer.from(body) : null;
  const seen = seenHeaders.flatMap((name) => {
    const value = headers[name];
    // The library finds no form in an empty body, and refuses any other type.
    if (value === undefined || (name === "content-type" && payload === null)) return [];
    return [[name, name === "cookie" ? withoutSession(value) : value] as const];
  });
  const { inject } = await import("light-my-request");
  const answer = await inject(dispatch, {
    method: method === "POST" ? "POST" : "GET",
    url: target,
    headers: {
      ...Object.fromEntries(seen),
      host: base.host,
      "x-forwarded-proto": base.protocol.slice(0, -1),
    },
    ...(payload === null ? {} : { payload }),
  });
  const passed = passedHeaders.flatMap((name) => {
    const values = [answer.headers[name] ?? []].flat();
    return values
      .map((value): [string, string] => [name, String(value)])
      .filter(([, value]) => name !== "set-cookie" || !isSession(value));
  });
  return {
    status: answer.statusCode,
    type: String(answer.headers["content-type"] ?? "text/plain; charset=utf-8"),
    body: answer.rawPayload,
    headers: passed,
  };
}

/**
 * The library's session cookie is neither sent to browsers nor accepted from them: our own sessions hold who is
 * signed in, and each authorization is a sign-in of its own.
 */
const isSession = (pair: string): boolean => pair.trimStart().startsWith(sessionCookie);

const withoutSession = (cookie: string): string =>
  cookie
    .split(";")
    .filter((pair) => !isSession(pair))
    .join(";");
