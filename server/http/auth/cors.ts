import type { Config } from "../../platform/config/config.ts";
import { AppError } from "../../platform/errors.ts";
import { normalizeOrigin, parseOrigins } from "../../platform/security/origins.ts";
import { isFormType } from "../pipeline/body.ts";
import type { AnyRoute, Headers, RequestInfo } from "../pipeline/route.ts";
import { headerValue } from "../pipeline/text.ts";
import { isTracing } from "../uws/tracing-headers.ts";

// Event stream clients built on fetch send Cache-Control, as EventSource does without a preflight.
const allowedHeaders =
  "Authorization, Content-Type, X-Api-Key, X-Realm, X-Lobby-Token, X-Room-Token, Idempotency-Key, Last-Event-ID, If-None-Match, Cache-Control, X-Request-Id, traceparent, tracestate, baggage, b3, sentry-trace";
const exposedHeaders =
  "Retry-After, ETag, Location, X-Request-Id, X-Lobby-Token, X-Room-Token, X-Hub-Token, X-Owner-Port, Link";
const preflightSeconds = "600";
const exposed: Headers = [["Access-Control-Expose-Headers", exposedHeaders]];
const forAll: Headers = [["Access-Control-Allow-Origin", "*"]];
const headText = (headers: Headers) =>
  headers.map(([name, value]) => `\r\n${name}: ${headerValue(value)}`).join("");
const readableByAll = headText([...forAll, ...exposed]);

/** Headers that decide the CORS permission: cacheable responses vary by them, even without a permission. */
export const permissionVary = "Origin, X-Api-Key";

/** Origins that change at run time, such as the addresses of active realms, in `scheme://host:port` form. */
export type OriginSource = () => ReadonlySet<string>;

type Openness = Pick<AnyRoute, "anyOrigin" | "publicData">;

/** Cross-origin permissions (HTTP-10) and the check of cookie-borne authority (HTTP-11, S25). */
export class Cors {
  readonly #configured: ReadonlySet<string>;
  readonly #realmOrigins: OriginSource;
  readonly #ownOrigin: string | null;
  readonly #port: number;
  readonly #isDataPublic: boolean;

  constructor(config: Config, realmOrigins: OriginSource) {
    this.#configured = parseOrigins(config.CORS_ORIGINS);
    this.#realmOrigins = realmOrigins;
    this.#ownOrigin = config.PUBLIC_BASE_URL === "" ? null : new URL(config.PUBLIC_BASE_URL).origin;
    this.#port = config.PORT;
    this.#isDataPublic = config.CORS_PUBLIC_DATA;
  }

  /** True when every origin may read the responses of this route. */
  isForAll(route: Openness | undefined): boolean {
    return route?.anyOrigin === true || (route?.publicData === true && this.#isDataPublic);
  }

  /**
   * CORS headers of a response; `isForAll`: any origin may read it, `hasKey`: the request has an API key that is
   * valid for this origin.
   */
  answer(request: RequestInfo, isForAll: boolean, hasKey: boolean): string | null {
    const origin = request.headers["origin"];
    if (origin !== undefined && this.#isAllowed(origin))
      return headText([...permission(origin), ...exposed]);
    if (origin !== undefined && this.#isOwnPage(origin, request))
      return headText([...readableBy(origin), ...exposed]);
    return isForAll || (origin !== undefined && hasKey) ? readableByAll : null;
  }

  /** Headers of a preflight. Any origin may ask for X-Api-Key: the key itself names its origins. */
  preflight(request: RequestInfo, allow: string, isForAll: boolean): Headers {
    const origin = request.headers["origin"];
    if (origin === undefined || request.headers["access-control-request-method"] === undefined)
      return [];
    const asked = (request.headers["access-control-request-headers"] ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim());
    const granted: Headers = [
      ["Access-Control-Allow-Methods", allow],
      ["Access-Control-Allow-Headers", [allowedHeaders, ...asked.filter(isTracing)].join(", ")],
      ["Access-Control-Max-Age", preflightSeconds],
    ];
    if (this.#isAllowed(origin)) return [...permission(origin), ...granted];
    if (this.#isOwnPage(origin, request)) return [...readableBy(origin), ...granted];
    const isKeyAsked = asked.includes("x-api-key");
    if (isKeyAsked || isForAll) return [...forAll, ...granted];
    return [["Vary", "Origin"]];
  }

  /** Refusal when a browser sends a cookie from a page of a foreign origin (HTTP-11). */
  pageProblem(request: RequestInfo): AppError | null {
    const problem = this.siteProblem(request);
    if (problem !== null) return problem;
    return isFormType(request.headers["content-type"])
      ? new AppError("request:unsupported_media_type")
      : null;
  }

  /** Refusal when a browser sends a request from a foreign site; other clients send no origin. */
  siteProblem(request: RequestInfo): AppError | null {
    const origin = request.headers["origin"];
    const isKnown =
      origin !== undefined &&
      (this.#isAllowed(origin) || this.#isOwn(origin, request) || this.#isOwnPage(origin, request));
    const isForeign = foreignSites.has(siteOf(request) ?? "");
    if (isKnown || (origin === undefined && !isForeign)) return null;
    return new AppError("request:origin_forbidden");
  }

  #isAllowed(origin: string): boolean {
    const normal = normalizeOrigin(origin);
    return normal !== null && (this.#configured.has(normal) || this.#realmOrigins().has(normal));
  }

  /**
   * True for a page of the shared port that sends a request to a worker's dedicated port, which is another
   * origin. Such requests need no cookies, so they may not send any (HTTP-19, S25).
   */
  #isOwnPage(origin: string, request: RequestInfo): boolean {
    if (request.workerPort === null) return false;
    const normal = normalizeOrigin(origin);
    if (normal === null) return false;
    if (normal === this.#ownOrigin) return true;
    const scheme = request.isSecure ? "https" : "http";
    const host = (request.headers["host"] ?? "").replace(/:\d+$/, "");
    return normal === normalizeOrigin(`${scheme}://${host}:${this.#port}`);
  }

  #isOwn(origin: string, request: RequestInfo): boolean {
    const normal = normalizeOrigin(origin);
    if (normal === null) return false;
    if (normal === this.#ownOrigin) return true;
    // The service may have several names. Without a trusted proxy only the browser knows the scheme.
    const host = request.headers["host"] ?? "";
    const isSameOrigin = siteOf(request) === "same-origin";
    const schemes = isSameOrigin ? ["http", "https"] : [request.isSecure ? "https" : "http"];
    return schemes.some((scheme) => normal === normalizeOrigin(`${scheme}://${host}`));
  }
}

/** A page on a sibling subdomain is foreign too. */
const foreignSites: ReadonlySet<string> = new Set(["cross-site", "same-site"]);

const siteOf = ({ headers }: RequestInfo) => headers["sec-fetch-site"]?.trim().toLowerCase();

/**
 * Refusal when another site loads a cookie-setting address without a top-level navigation: an image or a frame would
 * sign in its visitors unnoticed.
 */
export function visitProblem(request: RequestInfo): AppError | null {
  const goal = request.headers["sec-fetch-dest"]?.trim().toLowerCase() ?? "document";
  if (!foreignSites.has(siteOf(request) ?? "") || goal === "document") return null;
  return new AppError("request:origin_forbidden");
}

function permission(origin: string): Headers {
  return [["Access-Control-Allow-Credentials", "true"], ...readableBy(origin)];
}

function readableBy(origin: string): Headers {
  return [
    ["Access-Control-Allow-Origin", origin],
    ["Vary", "Origin"],
  ];
}
