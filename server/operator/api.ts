import type { TObject } from "typebox";
import { AppError } from "../platform/errors.ts";
import { maxBodyBytes, parseJsonObject, requireJson } from "../http/pipeline/body.ts";
import {
  createParamsReader,
  createQueryReader,
  type ParamsReader,
  type QueryReader,
} from "../http/pipeline/query.ts";
import type { AnyRoute, OperatorLevel, Reply } from "../http/pipeline/route.ts";
import { isOperatorRoute } from "../http/pipeline/route.ts";
import { Router } from "../http/pipeline/router.ts";
import { createBodyReader, type BodyReader } from "../http/pipeline/validate.ts";
import type { OperatorReply, OperatorRequest } from "./exchange.ts";

/** An endpoint with its readers, built before the first request. */
export interface ApiEntry {
  route: AnyRoute;
  level: OperatorLevel;
  readParams: ParamsReader | null;
  readQuery: QueryReader | null;
  readBody: BodyReader | null;
}

const nothing: Readonly<Record<string, never>> = Object.freeze({});

/** Throws if a route belongs to the public listener. */
export function createApi(routes: readonly AnyRoute[]): Router<ApiEntry> {
  const router = new Router<ApiEntry>();
  for (const route of routes) {
    if (!isOperatorRoute(route)) throw new Error(`${route.path} belongs to the public listener`);
    const { params, query, body, invalid, path } = route;
    const entry: ApiEntry = {
      route,
      level: route.auth as OperatorLevel,
      readParams: params ? paramsReader(path, params, route) : null,
      readQuery: query ? createQueryReader(query) : null,
      readBody: body ? createBodyReader(body, invalid) : null,
    };
    router.add(route.method, path, entry);
    if (route.method === "GET") router.add("HEAD", path, entry);
  }
  return router;
}

const paramsReader = (path: string, params: TObject, { notFoundCode }: AnyRoute) =>
  createParamsReader(path, params, notFoundCode ?? "route:not_found");

/** Reads the declared input in the order of HTTP-17 and runs the handler. */
export async function callRoute(
  { route, readParams, readQuery, readBody }: ApiEntry,
  params: string[],
  request: OperatorRequest,
): Promise<OperatorReply> {
  if (readBody && request.body.length > 0) requireJson(headersOf(request));
  if (request.body.length > maxBodyBytes) throw new AppError("request:too_large");
  const input = {
    query: readQuery ? readQuery(request.query) : nothing,
    body: readBody ? readBody(parseJsonObject(request.body)) : nothing,
    params: readParams ? readParams(params) : nothing,
    caller: request.operator,
    request: { ...request, headers: headersOf(request) },
  };
  return toOperatorReply(await route.handler(input as never));
}

function headersOf({ headers }: OperatorRequest): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value ?? "")]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function toOperatorReply(reply: Reply): OperatorReply {
  const headers = Object.fromEntries(reply.headers);
  const { status } = reply;
  if (reply.kind === "json") {
    const { body, pagination } = reply;
    return {
      status,
      headers,
      content: { kind: "json", body, ...(pagination ? { pagination } : {}) },
    };
  }
  if (reply.kind === "bytes") {
    const { type, bytes } = reply;
    return { status, headers, content: { kind: "raw", type, bytes } };
  }
  throw new Error(`an operator route cannot answer with ${reply.kind}`);
}
