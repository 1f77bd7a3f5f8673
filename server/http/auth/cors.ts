import type { Config } from "../../platform/config/config.ts";
import { AppError } from "../../platform/errors.ts";
import { normalizeOrigin, parseOrigins } from "../../platform/security/origins.ts";
import { isFormType } from "../pipeline/body.ts";
import type { AnyRoute, Headers, RequestInfo } from "../pipeline/route.ts";
import { headerValue } from "../pipeline/text.ts";
import { isTracing } from "../uws/tracing-headers.ts";

// Clients that read event streams by themselves send Cache-Control, as an EventSource does (which needs no leave).
const allowedHeaders =
  "Authorization, Content-Type, X-Api-Key, X-Realm, X-Lobby-Token, Idempotency-Key, Last-Event-ID, If-None-Match, Cache-Control, X-Request-Id, traceparent, tracestate, baggage, b3, sentry-trace";
const exposedHeaders =
  "Retry-After, ETag, Location, X-Request-Id, X-Lobby-Token, X-Hub-Token, Link";
const preflightSeconds = "600";
const exposed: Headers = [["Access-Control-Expose-Headers", exposedHeaders]];
const forAll: Headers = [["Access-Control-Allow-Origin", "*"]];
const headText = (headers: Headers) =>
  headers.map(([name, value]) => `\r\n${name}: ${headerValue(value)}`).join("");
const readableByAll = headText([...forAll, ...exposed]);

/** What a permission depends on: an answer that shared caches keep varies by it, also where nothing is permitted. */
export const permissionVary = "Origin, X-Api-Key";

/** Origins that change at run time, such as the addresses of active realms, in `scheme://host:port` form. */
export type OriginSource = () => ReadonlySet<string>;

type Openness = Pick<AnyRoute, "anyOrigin" | "publicData">;

/** Cross-origin permissions (HTTP-10) and the check of cookie-borne authority (HTTP-11, S25). */
export class Cors {
  private readonly configured: ReadonlySet<string>;
  private readonly realmOrigins: OriginSource;
  private readonly ownOrigin: string | null;
  private readonly isDataPublic: boolean;

  constructor(config: Config, realmOrigins: OriginSource) {
    this.configured = parseOrigins(config.CORS_ORIGINS);
    this.realmOrigins = realmOrigins;
    this.ownOrigin = config.PUBLIC_BASE_URL === "" ? null : new URL(config.PUBLIC_BASE_URL).origin;
    this.isDataPublic = config.CORS_PUBLIC_DATA;
  }

  /** Whether every origin may read what this route answers. */
  isForAll(route: Openness | undefined): boolean {
    return route?.anyOrigin === true || (route?.publicData === true && this.isDataPublic);
  }

  /**
   * Headers of an answer as they are written; `isForAll` marks what any origin may read, `hasKey` a key valid
   * for this one.
   */
  answer(origin: string | undefined, isForAll: boolean, hasKey: boolean): string | null {
    if (origin !== undefined && this.isAllowed(origin))
      return headText([...permission(origin), ...exposed]);
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
    if (this.isAllowed(origin)) return [...permission(origin), ...granted];
    const isKeyAsked = asked.includes("x-api-key");
    if (isKeyAsked || isForAll) return [...forAll, ...granted];
    return [["Vary", "Origin"]];
  }

  /** What is wrong when a browser sends a cookie from a page that is not ours (HTTP-11). */
  pageProblem(request: RequestInfo): AppError | null {
    const problem = this.siteProblem(request);
    if (problem !== null) return problem;
    return isFormType(request.headers["content-type"])
      ? new AppError("request:unsupported_media_type")
      : null;
  }

  /** What is wrong when a browser sends a request from a site that is not ours; other clients say nothing of theirs. */
  siteProblem(request: RequestInfo): AppError | null {
    const origin = request.headers["origin"];
    const isKnown = origin !== undefined && (this.isAllowed(origin) || this.isOwn(origin, request));
    const isForeign = foreignSites.has(siteOf(request) ?? "");
    if (isKnown || (origin === undefined && !isForeign)) return null;
    return new AppError("request:origin_forbidden");
  }

  private isAllowed(origin: string): boolean {
    const normal = normalizeOrigin(origin);
    return normal !== null && (this.configured.has(normal) || this.realmOrigins().has(normal));
  }

  private isOwn(origin: string, request: RequestInfo): boolean {
    const normal = normalizeOrigin(origin);
    if (normal === null) return false;
    if (normal === this.ownOrigin) return true;
    // Under another of our names than the configured one. Which scheme it was the browser knows, where no proxy says.
    const host = request.headers["host"] ?? "";
    const isSameOrigin = siteOf(request) === "same-origin";
    const schemes = isSameOrigin ? ["http", "https"] : [request.isSecure ? "https" : "http"];
    return schemes.some((scheme) => normal === normalizeOrigin(`${scheme}://${host}`));
  }
}

/** A page at another name under ours is not ours either. */
const foreignSites: ReadonlySet<string> = new Set(["cross-site", "same-site"]);

const siteOf = ({ headers }: RequestInfo) => headers["sec-fetch-site"]?.trim().toLowerCase();

/**
 * What is wrong when another site uses an address that sets a cookie and is made to be visited, in any other way than
 * by sending a browser there: a picture or a frame would sign its visitors in unseen.
 */
export function visitProblem(request: RequestInfo): AppError | null {
  const goal = request.headers["sec-fetch-dest"]?.trim().toLowerCase() ?? "document";
  if (!foreignSites.has(siteOf(request) ?? "") || goal === "document") return null;
  return new AppError("request:origin_forbidden");
}

function permission(origin: string): Headers {
  return [
    ["Access-Control-Allow-Origin", origin],
    ["Access-Control-Allow-Credentials", "true"],
    ["Vary", "Origin"],
  ];
}
