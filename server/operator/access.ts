import { parseCookie } from "cookie";
import { AppError } from "../core/errors.ts";
import { isLocalPeer } from "../core/local-peer.ts";
import type { OperatorLevel } from "../http/route.ts";
import type { OperatorRequest } from "./exchange.ts";
import type { LoginFailures } from "./failures.ts";
import { includesRole, type Identities, type Operator } from "./identity.ts";

export const cookieName = "operator";

const safeFetchSites = new Set([undefined, "same-origin", "none"]);

export interface AccessOptions {
  identities: Identities;
  failures: LoginFailures;
}

/** The operator of a request, null where none is needed; throws the 401, 403 or 429 (OPS-02). */
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
    const wait = failures.waitOf(request.ip);
    if (wait > 0) throw tooManyFailures(wait);
    const found = await identities.fromToken(/^Bearer (\S+)$/i.exec(header)?.[1] ?? "");
    if (found) return found;
    failures.record(request.ip);
    throw new AppError("auth:token_invalid", challenge);
  }
  const cookie = parseCookie(request.headers.cookie ?? "")[cookieName];
  const found = cookie === undefined ? null : await identities.fromCookie(cookie);
  if (!found) throw new AppError("auth:required", challenge);
  if (request.method !== "GET" && !safeFetchSites.has(fetchSite(request)))
    throw new AppError("request:origin_forbidden");
  return found;
}

const challenge: { headers: [string, string][] } = { headers: [["WWW-Authenticate", "Bearer"]] };

function fetchSite(request: OperatorRequest): string | undefined {
  const value = request.headers["sec-fetch-site"];
  return Array.isArray(value) ? value[0] : value;
}

export function tooManyFailures(wait: number): AppError {
  return new AppError("rate_limit:exceeded", { params: { retry_after: wait } });
}
