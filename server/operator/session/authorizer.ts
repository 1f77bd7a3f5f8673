import { AppError } from "../../platform/errors.ts";
import { isLocalPeer } from "../../platform/security/local-peer.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { RouteEntry } from "../../http/pipeline/entry.ts";
import { visitProblem } from "../../http/auth/cors.ts";
import { isForwardedHttps } from "../../http/pipeline/forwarded.ts";
import type { Authorizer } from "../../http/pipeline/listener.ts";
import type { RequestContext } from "../../http/pipeline/request-context.ts";
import type { OperatorLevel, RequestInfo } from "../../http/pipeline/route.ts";
import { includesRole } from "../roles.ts";
import type { Identities } from "./identity.ts";
import type { LoginFailures } from "./login-failures.ts";

const cookieName = "operator";
const safeFetchSites: ReadonlySet<string> = new Set(["same-origin", "none"]);
const challenge: { headers: [string, string][] } = { headers: [["WWW-Authenticate", "Bearer"]] };

/** Authorizes the callers of the operator listener, by token or session cookie (OPS-02). */
export class OperatorAuthorizer implements Authorizer {
  readonly #identities: Identities;
  readonly #failures: LoginFailures;

  constructor(identities: Identities, failures: LoginFailures) {
    this.#identities = identities;
    this.#failures = failures;
  }

  authorize(
    ctx: RequestContext,
    { route, isWrite }: Pick<RouteEntry, "route" | "isWrite">,
  ): AppError | null | Promise<AppError | null> {
    const level = route.auth as OperatorLevel;
    if (route.setsCookie === "by-page" && isFromOtherSite(ctx)) return otherSite();
    if (route.setsCookie === "by-visit") {
      const problem = visitProblem(ctx);
      if (problem) return problem;
    }
    if (level === "open") return null;
    if (level === "local" && isLocalPeer(ctx.ip, ctx.headers)) return null;
    return this.#admit(ctx, level, isWrite);
  }

  /** No route of operators takes files. */
  previewForm(): never {
    throw new AppError("request:unsupported_media_type");
  }

  holdsSeat(): boolean {
    return false;
  }

  async #admit(
    ctx: RequestContext,
    level: Exclude<OperatorLevel, "open">,
    isWrite: boolean,
  ): Promise<AppError | null> {
    const operator = await this.#identify(ctx, !isWrite);
    if (operator instanceof AppError) return operator;
    const isByCookie = ctx.headers["authorization"] === undefined;
    if (isByCookie && isWrite && isFromOtherSite(ctx)) return otherSite();
    ctx.caller = operator;
    return level === "local" || includesRole(operator.role, level)
      ? null
      : new AppError("auth:forbidden");
  }

  async #identify(ctx: RequestContext, isRead: boolean): Promise<OperatorCaller | AppError> {
    const header = ctx.headers["authorization"];
    if (header !== undefined) {
      const token = /^Bearer (\S+)$/i.exec(header)?.[1] ?? "";
      const found = await this.#identities.fromToken(token, isRead);
      if (found) return found;
      return (
        refuseRepeated(this.#failures, ctx.ip) ?? new AppError("auth:token_invalid", challenge)
      );
    }
    const cookie = sessionOf(ctx);
    const found = cookie === undefined ? null : await this.#identities.fromCookie(cookie, isRead);
    return found ?? new AppError("auth:required", challenge);
  }
}

const otherSite = () => new AppError("request:origin_forbidden");

/**
 * True if a browser sends a request from another site (S45): such a page may not use the cookie, replace or clear it,
 * or consume the login attempts of this address. Non-browser clients send no site.
 */
function isFromOtherSite({ headers }: Pick<RequestInfo, "headers">): boolean {
  const site = headers["sec-fetch-site"]?.trim().toLowerCase();
  return site === undefined ? isOtherOrigin(headers) : !safeFetchSites.has(site);
}

/**
 * Over plain http, and in old versions, browsers send no site, but they send the origin of every request
 * that is not a simple read.
 */
function isOtherOrigin({ origin, host = "" }: RequestInfo["headers"]): boolean {
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

/** The session cookie of a request. */
export const sessionOf = ({ cookies }: Pick<RequestInfo, "cookies">): string | undefined =>
  cookies[cookieName];

/** What a browser keeps while its person is at the OpenID provider, which leads it back from another site. */
const pendingName = "operator_oidc";

export const pendingOf = ({ cookies }: Pick<RequestInfo, "cookies">): string | undefined =>
  cookies[pendingName];

/** Sets that cookie, or with an age of 0 clears it. */
export const pendingCookie = (
  value: string,
  maxAge: number,
  { headers }: Pick<RequestInfo, "headers">,
): string =>
  `${pendingName}=${value}; Path=/operator/login; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secureOf(headers)}`;

const secureOf = (headers: RequestInfo["headers"]): string =>
  isForwardedHttps(headers["x-forwarded-proto"]) ? "; Secure" : "";

/** Sets the session cookie, or with an age of 0 clears it. */
export function sessionCookie(
  value: string,
  maxAge: number,
  { headers }: Pick<RequestInfo, "headers">,
): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secureOf(headers)}`;
}

/**
 * Counts a wrong token; the refusal once there were too many. Call it after the token was looked up: any web page can
 * send wrong tokens from the operator's own address, and the right token must still be accepted (S48).
 */
export function refuseRepeated(failures: LoginFailures, ip: string): AppError | null {
  const wait = failures.waitOf(ip);
  if (wait > 0) return new AppError("rate_limit:exceeded", { params: { retry_after: wait } });
  failures.record(ip);
  return null;
}
