import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { randomId } from "../../platform/ids.ts";
import { cookieSeconds, type EndedSessions } from "./ended-sessions.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";

export type Operator = OperatorCaller;

export interface Identities {
  /** The operator with this token, or null. */
  fromToken(token: string): Promise<Operator | null>;
  fromCookie(value: string): Promise<Operator | null>;
  /** Cookie value for a token that has just been accepted. */
  cookieFor(token: string): string;
  /** Signs a browser out: the cookie and all copies of it become invalid. */
  end(cookie: string): Promise<void>;
}

const maxTokenLength = 256;

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * Looks operators up by the hash of their token: the bootstrap token, or a row of `operators`. The signed
 * cookie contains the hash, an expiry and the session id. Each request checks the hash again, so that
 * revoking a token ends its browser sessions too, and checks whether the session was signed out.
 */
export function createIdentities(
  config: Config,
  clock: Clock,
  findByHash: (hash: string) => Promise<Operator | null>,
  ended: EndedSessions,
): Identities {
  const key = Buffer.from(hkdfSync("sha256", config.APP_SECRET, "", "operator-cookie", 32));
  const bootstrap = config.OPERATOR_BOOTSTRAP_TOKEN;
  const bootstrapHash = bootstrap === "" ? null : hashToken(bootstrap);
  const find = async (hash: string): Promise<Operator | null> => {
    if (bootstrapHash !== null && isEqual(hash, bootstrapHash))
      return { name: "bootstrap", role: "admin" };
    return findByHash(hash);
  };
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  /** The content of a valid, unexpired cookie of ours. Older cookies have no session id. */
  const open = (cookie: string): { session: string; hash: string } | null => {
    const at = cookie.lastIndexOf(".");
    const session = cookie.slice(0, Math.max(0, at));
    if (!isEqual(cookie.slice(at + 1), sign(session))) return null;
    const [hash = "", end = ""] = session.split(".");
    return Number(end) * 1_000 > clock.now() ? { session, hash } : null;
  };
  return {
    fromToken: async (token) =>
      token === "" || token.length > maxTokenLength ? null : find(hashToken(token)),
    fromCookie: async (cookie) => {
      const opened = open(cookie);
      if (opened === null || (await ended.has(opened.session))) return null;
      return find(opened.hash);
    },
    cookieFor: (token) => {
      const end = Math.floor(clock.now() / 1_000) + cookieSeconds;
      const session = `${hashToken(token)}.${end}.${randomId()}`;
      return `${session}.${sign(session)}`;
    },
    end: async (cookie) => {
      const opened = open(cookie);
      if (opened !== null) await ended.add(opened.session);
    },
  };
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
