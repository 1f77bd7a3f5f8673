import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { parseCookie } from "cookie";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import { errors, type ErrorCode } from "../core/errors.ts";
import { isLocalPeer } from "../core/local-peer.ts";
import type { Logger } from "../core/logger.ts";
import { EnvelopeWriter, metaText } from "../http/envelope.ts";
import { boardPath } from "./board.ts";
import {
  readRequest,
  redirect,
  refuse,
  writeReply,
  type OperatorReply,
  type OperatorRequest,
  type OperatorRoute,
} from "./exchange.ts";
import type { LoginFailures } from "./failures.ts";
import { includesRole, type Identities, type Operator } from "./identity.ts";

export const cookieName = "operator";

export interface OperatorServerOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  routes: readonly OperatorRoute[];
  board: (request: OperatorRequest) => Promise<OperatorReply | null>;
  identities: Identities;
  failures: LoginFailures;
  /** Records a change: who, what, when (S16). */
  audit: (operator: Operator, action: string) => Promise<void>;
}

const requestLimitMs = 15_000;
const safeFetchSites = new Set([undefined, "same-origin", "none"]);

/** The second listener: a few people use it, so it is a plain server in a process of its own (OPS-01). */
export function createOperatorServer(options: OperatorServerOptions): Server {
  const envelope = new EnvelopeWriter(options.config, options.clock);
  const server = createServer((incoming, response) => {
    void serve(options, envelope, incoming, response).catch((error: unknown) => {
      options.log.error({ err: error }, "operator request");
      response.destroy();
    });
  });
  server.requestTimeout = requestLimitMs;
  server.headersTimeout = requestLimitMs;
  server.maxConnections = 256;
  return server;
}

export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function serve(
  options: OperatorServerOptions,
  envelope: EnvelopeWriter,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = performance.now();
  const request = await readRequest(incoming).catch(() => null);
  if (request === null) response.setHeader("Connection", "close");
  const reply = request === null ? refusal("request:too_large") : await answer(options, request);
  const meta = metaText(incoming.method ?? "GET", request?.path ?? "/");
  writeReply(
    response,
    reply,
    (value) => wrap(envelope, value, startedAt, meta),
    incoming.method === "HEAD",
  );
}

function wrap(
  writer: EnvelopeWriter,
  reply: OperatorReply,
  startedAt: number,
  meta: string,
): string {
  const head = writer.open(reply.status, startedAt, meta);
  if (reply.content.kind !== "json") return "";
  const { body, error } = reply.content;
  if (error) return `${head},"flash":${JSON.stringify({ errors: [error] })}}`;
  return body === undefined ? `${head}}` : `${head},"body":${JSON.stringify(body)}}`;
}

async function answer(
  options: OperatorServerOptions,
  request: OperatorRequest,
): Promise<OperatorReply> {
  try {
    const isHead = request.method === "HEAD";
    const method = isHead ? "GET" : request.method;
    const found = options.routes.filter((route) => route.path === request.path);
    const route = found.find((each) => each.method === method);
    const isBoard = request.path === boardPath || request.path.startsWith(`${boardPath}/`);
    if (!isBoard && found.length === 0) return refusal("route:not_found");
    if (!isBoard && !route) return refusal("route:method_not_allowed");
    const access = route?.access ?? (method === "GET" ? "viewer" : "operator");
    if (access !== "open" && !(access === "local" && isLocalPeer(request.ip, request.headers))) {
      const refused = await authenticate(options, request);
      if (refused) return refused;
      if (access !== "local" && request.operator && !includesRole(request.operator, access))
        return refusal("auth:forbidden");
    }
    const reply = route ? await route.handler(request) : await options.board(request);
    if (request.operator && method !== "GET" && (reply?.status ?? 404) < 400)
      await options.audit(request.operator, `${method} ${request.path}`);
    return reply ?? refusal("route:not_found");
  } catch (error) {
    options.log.error({ err: error, path: request.path }, "operator request failed");
    return refusal("server:unavailable");
  }
}

/** Sets `request.operator`, or gives the refusal. Browsers are shown the login page instead of JSON. */
async function authenticate(
  options: OperatorServerOptions,
  request: OperatorRequest,
): Promise<OperatorReply | null> {
  const header = request.headers.authorization;
  const cookie = parseCookie(request.headers.cookie ?? "")[cookieName];
  if (header !== undefined) {
    const wait = options.failures.waitOf(request.ip);
    if (wait > 0) return tooManyFailures(wait);
    request.operator = await options.identities.fromToken(
      /^Bearer (\S+)$/i.exec(header)?.[1] ?? "",
    );
    if (request.operator) return null;
    options.failures.record(request.ip);
    return refusal("auth:token_invalid");
  }
  if (cookie !== undefined) request.operator = await options.identities.fromCookie(cookie);
  if (request.operator && request.method !== "GET" && !safeFetchSites.has(fetchSite(request)))
    return refusal("request:origin_forbidden");
  if (request.operator) return null;
  const isBrowser =
    request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
  return isBrowser ? redirect("/operator/login") : refusal("auth:required");
}

function fetchSite(request: OperatorRequest): string | undefined {
  const value = request.headers["sec-fetch-site"];
  return Array.isArray(value) ? value[0] : value;
}

export function refusal(code: ErrorCode): OperatorReply {
  const [status, message] = errors[code];
  return refuse(status, code, message);
}

export function tooManyFailures(wait: number): OperatorReply {
  const [status, message] = errors["rate_limit:exceeded"];
  const reply = refuse(status, "rate_limit:exceeded", message, { retry_after: wait });
  return { ...reply, headers: { "Retry-After": String(wait) } };
}
