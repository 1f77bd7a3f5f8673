import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Clock } from "../platform/time/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { AppError } from "../platform/errors.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createAddressReader, type AddressReader } from "../http/pipeline/client-address.ts";
import { EnvelopeWriter, metaText } from "../http/replies/envelope.ts";
import { toAppError } from "../http/pipeline/failures.ts";
import { isForwardedHttps } from "../http/pipeline/forwarded.ts";
import type { AnyRoute } from "../http/pipeline/route.ts";
import type { RouteMatch, Router } from "../http/pipeline/router.ts";
import { admit, type AccessOptions } from "./session/authorizer.ts";
import { callRoute, createApi, type ApiEntry } from "./api.ts";
import { isBoardPath, type Board } from "./board/board.ts";
import {
  readRequest,
  html,
  redirect,
  refuse,
  writeReply,
  type OperatorReply,
  type OperatorRequest,
  type PageRoute,
} from "./exchange.ts";
import { loginPage, refusalPage } from "./overview/page.ts";
import type { Audit } from "./deps.ts";

export interface OperatorServerOptions extends AccessOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  routes: readonly AnyRoute[];
  pages: readonly PageRoute[];
  board: Board;
  audit: Audit;
}

/** Dependencies shared by all requests. */
interface Tools {
  api: Router<ApiEntry>;
  envelope: EnvelopeWriter;
  readAddress: AddressReader;
}

const requestLimitMs = 15_000;
const drainLimitMs = 10_000;
const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;

/** The operator listener: few people use it, so it is a plain HTTP server in its own process (OPS-01). */
export function createOperatorServer(options: OperatorServerOptions): Server {
  const envelope = new EnvelopeWriter(options.config, options.clock);
  const api = createApi(options.routes);
  const readAddress = createAddressReader(options.config.TRUSTED_PROXIES);
  const server = createServer((incoming, response) => {
    void serve(options, { api, envelope, readAddress }, incoming, response).catch(
      (error: unknown) => {
        options.log.error(
          { event: "operator_response_failed", err: error },
          "operator response failed, connection closed",
        );
        response.destroy();
      },
    );
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

/** Accepts no new requests and finishes those in flight, within a time limit (S41). */
export async function drain(server: Server, handedOver: Iterable<Socket>): Promise<void> {
  const closed = [server, ...handedOver].map((each) => once(each, "close"));
  // Idle connections are not waited for.
  server.keepAliveTimeout = 1;
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), drainLimitMs);
  await Promise.all(closed);
  clearTimeout(timer);
}

async function serve(
  options: OperatorServerOptions,
  { api, envelope, readAddress }: Tools,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startedAt = performance.now();
  const given = incoming.headers["x-request-id"];
  const id = typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
  const path = (incoming.url ?? "/").split("?", 1)[0] ?? "/";
  const reply = await readRequest(incoming, readAddress)
    .then((request) => answer(options, api, request))
    .catch((error: unknown) => {
      const refusal = toAppError(error);
      if (refusal.status >= 500)
        options.log.error(
          { event: "operator_request_failed", err: refusal.detail.cause ?? refusal, path },
          "operator request failed",
        );
      return isBrowser(incoming) ? refusePage(refusal, incoming.method) : refuse(refusal);
    });
  // The unread rest of a body must not be parsed as the next request.
  if (!incoming.complete) response.setHeader("Connection", "close");
  writeReply(response, reply, {
    id,
    envelope: envelope.open(reply.status, startedAt, metaText(incoming.method ?? "GET", path)),
    isHead: incoming.method === "HEAD",
    isSecure: isForwardedHttps(incoming.headers["x-forwarded-proto"]?.toString()),
  });
}

async function answer(
  options: OperatorServerOptions,
  api: Router<ApiEntry>,
  request: OperatorRequest,
): Promise<OperatorReply> {
  if (isBoardPath(request.path)) return answerBoard(options, request);
  const match = api.match(request.method, request.path);
  if (match?.entry) {
    request.operator = await admit(options, request, match.entry.level);
    return callRoute(match.entry, match.params, request);
  }
  const method = request.method === "HEAD" ? "GET" : request.method;
  const pages = options.pages.filter((page) => page.path === request.path);
  const page = pages.find((each) => each.method === method);
  if (!page) return noSuchMethod(request, match, pages);
  request.operator = await admit(options, request, page.access);
  return page.handler(request);
}

/** 404 for an unknown path; otherwise 405 or, for OPTIONS, the allowed methods (HTTP-01, HTTP-02). */
function noSuchMethod(
  request: OperatorRequest,
  match: RouteMatch<ApiEntry> | null,
  pages: readonly PageRoute[],
): OperatorReply {
  const known = new Set([...(match?.allow ?? []), ...pages.map(({ method }) => method)]);
  if (known.size === 0) throw new AppError("route:not_found");
  if (known.has("GET")) known.add("HEAD");
  const allow = [...known, "OPTIONS"].join(", ");
  if (request.method === "OPTIONS")
    return { status: 204, content: { kind: "none" }, headers: { Allow: allow } };
  throw new AppError("route:method_not_allowed", { headers: [["Allow", allow]] });
}

/**
 * The queue dashboard changes jobs by itself, so the operator is recorded before the request is passed on
 * (S16).
 */
async function answerBoard(
  options: OperatorServerOptions,
  request: OperatorRequest,
): Promise<OperatorReply> {
  const isLook = request.method === "GET" || request.method === "HEAD";
  request.operator = await admit(options, request, isLook ? "viewer" : "operator");
  if (request.operator && !isLook)
    await options.audit(request.operator, {
      action: `board:${request.method}`,
      target: request.path,
    });
  return options.board(request);
}

const isBrowser = ({ headers }: IncomingMessage) => (headers.accept ?? "").includes("text/html");

/** A page instead of JSON; the login page where a login helps. */
function refusePage(refusal: AppError, method = "GET"): OperatorReply {
  if (refusal.code !== "auth:required")
    return {
      ...html(refusalPage(refusal.message), refusal.status),
      headers: refuse(refusal).headers ?? {},
    };
  return method === "GET"
    ? redirect("/operator/login")
    : html(loginPage("Your session has ended; nothing was changed."), 401);
}
