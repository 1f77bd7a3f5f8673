import type { Counter, Histogram } from "prom-client";
import type { TObject } from "typebox";
import type { Config } from "../../platform/config/config.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Metrics } from "../../platform/metrics/metrics.ts";
import { createBodyReader, type BodyReader } from "./validate.ts";
import {
  createParamsReader,
  createQueryReader,
  type ParamsReader,
  type QueryReader,
} from "./query.ts";
import { limitOf, refusalLimitOf, type RouteLimit } from "../limits/rate-limit.ts";
import { permissionVary } from "../auth/cors.ts";
import { maxBodyBytes } from "./body.ts";
import { maxFormFraming } from "./form.ts";
import { guessLimitOf } from "../limits/guess-limit.ts";
import { keyUseOf, type KeyUse } from "../auth/key-use.ts";
import type { AnyRoute, ResponseSpec } from "./route.ts";

/** Counter and logger of one route, method and status. */
export interface RequestKind {
  count: Counter.Internal;
  /** Has the route, the method and the status in its lines. */
  log: Logger;
}

/** A route with everything that is precomputed at start. */
export interface RouteEntry {
  route: AnyRoute;
  /** Takes requests with a URL-encoded form instead. */
  forForm: RouteEntry | null;
  limit: RouteLimit | null;
  refusalLimit: RouteLimit | null;
  guessLimit: RouteLimit | null;
  keyUse: KeyUse;
  /** Only an API key is read: neither the level nor a limit needs the caller. */
  isAnonymous: boolean;
  readBody: BodyReader | null;
  readQuery: QueryReader | null;
  readParams: ParamsReader | null;
  maxBodyBytes: number;
  /** Bytes of the file, of a route that takes a form. */
  maxFileBytes: number;
  isWrite: boolean;
  isStream: boolean;
  /** The route has an answer for browsers, besides the one for programs. */
  isForBrowsers: boolean;
  /** Position of `{code}`, of the room a seat token must belong to; -1 on a route that names no room. */
  roomParam: number;
  /** Headers of every response. */
  safety: string;
  /** Headers of a response that shared caches may store; null on other routes. */
  cacheHead: string | null;
  seconds: Histogram.Internal<"route">;
  /** How requests of the route's own method are recorded, by status. */
  kinds: RequestKind[];
}

const isKind = (spec: ResponseSpec | undefined, kind: string) =>
  spec !== null && spec !== undefined && "kind" in spec && spec.kind === kind;

export function createEntry(
  route: AnyRoute,
  config: Config,
  metrics: Metrics,
  safetyOf: (route: AnyRoute) => string,
): RouteEntry {
  const names = [...route.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
  const params = route.params as TObject | undefined;
  const { formRoute, cookieAuthority, lenientPath } = route.rare ?? {};
  const maxFileBytes = route.form?.maxBytes(config) ?? 0;
  const limit = limitOf(route, config);
  return {
    route,
    forForm: formRoute ? createEntry(formRoute, config, metrics, safetyOf) : null,
    limit,
    refusalLimit: refusalLimitOf(route, config),
    guessLimit: guessLimitOf(route, config),
    keyUse: keyUseOf(route),
    isAnonymous:
      route.auth === "public" &&
      limit === null &&
      cookieAuthority === undefined &&
      route.setsCookie === undefined,
    readBody: route.body
      ? createBodyReader(
          route.body,
          route.invalid,
          (body) => route.crossFieldChecks?.(body, config) ?? [],
        )
      : null,
    readQuery: route.query ? createQueryReader(route.query, route.lenientQuery) : null,
    readParams: params
      ? createParamsReader(route.path, params, route.notFoundCode ?? "route:not_found", lenientPath)
      : null,
    maxBodyBytes: route.form ? maxFileBytes + maxFormFraming : maxBodyBytes,
    maxFileBytes,
    isWrite: route.method !== "GET",
    isForBrowsers: route.page !== undefined || route.pageAfter !== undefined,
    isStream: isKind(route.responses[200], "stream"),
    roomParam: roomParamOf(route, names),
    safety: safetyOf(route),
    cacheHead: cacheHeadOf(route),
    seconds: metrics.requestSeconds.labels({ route: route.path }),
    kinds: [],
  };
}

function roomParamOf(
  { room, auth, method, path }: AnyRoute,
  names: (string | undefined)[],
): number {
  const position = room === undefined ? -1 : names.indexOf("code");
  const isForRoom = room !== undefined || auth === "seat" || auth === "optional_seat";
  if (isForRoom && position < 0)
    throw new Error(`${method} ${path} needs {code} in its path and "room", the kind of that room`);
  return position;
}

/** A route that reads credentials varies by them (HTTP-13, S26). */
function cacheHeadOf({ cache, auth }: AnyRoute): string | null {
  if (cache === undefined) return null;
  const vary = auth === "public" ? permissionVary : `${permissionVary}, Authorization`;
  return `\r\nCache-Control: ${cache}\r\nVary: ${vary}`;
}
