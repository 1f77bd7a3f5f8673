import { createHash } from "node:crypto";
import { randomId } from "../../platform/ids.ts";
import { cookieSeconds, type EndedSessions } from "./ended-sessions.ts";
import type { Config } from "../../platform/config/config.ts";
import { readOperatorOidc } from "../../platform/config/operator-oidc.ts";
import type { Clock } from "../../platform/time/clock.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { isPersonText, operatorOf, personText, type OidcPerson } from "./oidc-person.ts";
import { cacheOperators, type FindOperator } from "./cached-operators.ts";
import { createSigner, isEqual } from "./signer.ts";

export type Operator = OperatorCaller;

export interface Identities {
  /** The operator with this token, or null. A request that only reads is served while Postgres is away (OPS-96). */
  fromToken(token: string, isRead?: boolean): Promise<Operator | null>;
  fromCookie(value: string, isRead?: boolean): Promise<Operator | null>;
  /** Cookie value for a token that has just been accepted, or for who signed in at the OpenID provider. */
  cookieFor(signedIn: string | OidcPerson): string;
  /** Signs a browser out: the cookie and all copies of it become invalid. */
  end(cookie: string): Promise<void>;
}

const maxTokenLength = 256;

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * Looks operators up by the hash of their token: the bootstrap token, or a row of `operators`. The signed
 * cookie contains the hash, or who signed in at the OpenID provider, an expiry and the session id. Each request
 * checks the hash or the role again, so that revoking a token or a role ends its browser sessions too, and checks
 * whether the session was signed out.
 */
export function createIdentities(
  config: Config,
  clock: Clock,
  findByHash: FindOperator,
  ended: EndedSessions,
): Identities {
  const signer = createSigner(config.APP_SECRET, "operator-cookie");
  const oidc = readOperatorOidc(config);
  const bootstrap = config.OPERATOR_BOOTSTRAP_TOKEN;
  const bootstrapHash = bootstrap === "" ? null : hashToken(bootstrap);
  const findCached = cacheOperators(findByHash);
  const find = async (hash: string, isRead: boolean): Promise<Operator | null> => {
    if (bootstrapHash !== null && isEqual(hash, bootstrapHash))
      return { name: "bootstrap", role: "admin" };
    return isRead ? findCached(hash) : findByHash(hash);
  };
  const sessionFor = (subject: string) => {
    const end = Math.floor(clock.now() / 1_000) + cookieSeconds;
    return signer.sign(`${subject}.${end}.${randomId()}`);
  };
  /** The content of a valid, unexpired cookie of ours. Older cookies have no session id. */
  const open = (cookie: string): { session: string; subject: string } | null => {
    const session = signer.open(cookie);
    if (session === null) return null;
    const [subject = "", end = ""] = session.split(".");
    return Number(end) * 1_000 > clock.now() ? { session, subject } : null;
  };
  return {
    fromToken: async (token, isRead = false) =>
      token === "" || token.length > maxTokenLength ? null : find(hashToken(token), isRead),
    fromCookie: async (cookie, isRead = false) => {
      const opened = open(cookie);
      if (opened === null) return null;
      const { session, subject } = opened;
      const isPerson = isPersonText(subject);
      const [hasEnded, operator] = await Promise.all([
        ended.has(session),
        isPerson ? operatorOf(oidc, subject) : find(subject, isRead),
      ]);
      return hasEnded ? null : operator;
    },
    cookieFor: (signedIn) =>
      sessionFor(typeof signedIn === "string" ? hashToken(signedIn) : personText(signedIn)),
    end: async (cookie) => {
      const opened = open(cookie);
      if (opened !== null) await ended.add(opened.session);
    },
  };
}
