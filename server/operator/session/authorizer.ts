import { parseCookie } from "cookie";
import { AppError } from "../../platform/errors.ts";
import { isLocalPeer } from "../../platform/security/local-peer.ts";
import type { OperatorLevel } from "../../http/pipeline/route.ts";
import type { OperatorRequest } from "../exchange.ts";
import type { LoginFailures } from "./login-failures.ts";
import { includesRole, type Identities, type Operator } from "./identity.ts";

export const cookieName = "operator";

const safeFetchSites: ReadonlySet<string> = new Set(["same-origin", "none"]);

export interface AccessOptions {
  identities: Identities;
  failures: LoginFailures;
}

/** The operator of a request, or null if none is required; throws the 401, 403 or 429 (OPS-02). */
export async function admit(
  options: AccessOptions,
  request: OperatorRequest,
  level: OperatorLevel,
): Promise<Operator | null> {
  if (level === "open") return null;
  if (level === "local" && isLocalPeer(request.ip, request.headers)) return null;
  const operator = await identify(options, request);
  if (level !== "local" && !includesRole(operator, level)) throw new AppError("auth:forbidden");
  return operator;
}

async function identify(
  { identities, failures }: AccessOptions,
  request: OperatorRequest,
): Promise<Operator> {
  const header = request.headers.authorization;
  if (header !== undefined) {
    const found = await identities.fromToken(/^Bearer (\S+)$/i.exec(header)?.[1] ?? "");
    if (found) return found;
    refuseRepeated(failures, request.ip);
    throw new AppError("auth:token_invalid", challenge);
  }
  const cookie = cookieOf(request);
  const found = cookie === undefined ? null : await identities.fromCookie(cookie);
  if (!found) throw new AppError("auth:required", challenge);
  if (request.method !== "GET" && request.method !== "HEAD") refuseOtherSites(request);
  return found;
}

const challenge: { headers: [string, string][] } = { headers: [["WWW-Authenticate", "Bearer"]] };

/**
 * Throws if a browser request comes from another site (S45): such a page may not use the cookie, replace or
 * clear it, or consume the login attempts of this address. Non-browser clients send no site.
 */
export function refuseOtherSites({ headers }: OperatorRequest): void {
  const site = headers["sec-fetch-site"]?.toString().trim().toLowerCase();
  const isOther = site === undefined ? isOtherOrigin(headers) : !safeFetchSites.has(site);
  if (isOther) throw new AppError("request:origin_forbidden");
}

/**
 * Over plain http, and in old versions, browsers send no site, but they send the origin of every request
 * that is not a simple read.
 */
function isOtherOrigin({ origin, host = "" }: OperatorRequest["headers"]): boolean {
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

/** The session cookie of a request. */
export function cookieOf({ headers }: Pick<OperatorRequest, "headers">): string | undefined {
  return parseCookie(headers.cookie ?? "")[cookieName];
}

/**
 * Counts a wrong token, and throws once there were too many. Call it after the token was looked up: any web
 * page can send wrong tokens from the operator's own address, and the right token must still be accepted
 * (S48).
 */
export function refuseRepeated(failures: LoginFailures, ip: string): void {
  const wait = failures.waitOf(ip);
  if (wait > 0) throw new AppError("rate_limit:exceeded", { params: { retry_after: wait } });
  failures.record(ip);
}
