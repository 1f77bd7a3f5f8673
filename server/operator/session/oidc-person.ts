import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { OperatorOidc } from "../../platform/config/operator-oidc.ts";
import { includesRole } from "../roles.ts";

/** Who signed in at the OpenID provider, as a session keeps it. */
export interface OidcPerson {
  issuer: string;
  /** Verified address or subject, for the audit log. */
  name: string;
  /** Value of the claim that gave the role. */
  value: string;
}

/** Values of one claim that are compared. */
const maxValues = 1_000;
/** Characters of a name in the audit log. */
const maxName = 64;

type Claims = Readonly<Record<string, unknown>>;

/** The value of the claim with the highest role; null without a role. */
export function roleValueOf({ claim, roles }: OperatorOidc, claims: Claims): string | null {
  // Anybody may state an address that is not verified.
  if (claim === "email" && claims["email_verified"] !== true) return null;
  const given = claims[claim];
  const values = Array.isArray(given) ? given.slice(0, maxValues) : [given];
  let best: string | null = null;
  for (const value of values) {
    const role = typeof value === "string" ? roles.get(value) : undefined;
    const bestRole = best === null ? undefined : roles.get(best);
    if (role !== undefined && (bestRole === undefined || includesRole(role, bestRole)))
      best = value as string;
  }
  return best;
}

/** The verified address, or else the subject, which no operator with a token can be called. */
export function nameOf({ sub, email, email_verified }: Claims): string | null {
  if (email_verified === true && isName(email)) return email;
  const subject = `oidc:${String(sub)}`;
  return typeof sub === "string" && isName(subject) ? subject : null;
}

const isName = (text: unknown): text is string =>
  typeof text === "string" && text.length <= maxName && /^[\x21-\x7e]+$/.test(text);

const prefix = "oidc-";

/** Text of a session; it contains no full stop. */
export const personText = ({ issuer, name, value }: OidcPerson): string =>
  prefix + Buffer.from(JSON.stringify([issuer, name, value])).toString("base64url");

/** True for the session of a person instead of a token. */
export const isPersonText = (text: string): boolean => text.startsWith(prefix);

/** The operator of a signed text, by the settings of now: without their role, the session has ended. */
export function operatorOf(oidc: OperatorOidc | null, text: string): OperatorCaller | null {
  if (oidc === null || oidc.provider.endpoints.kind !== "discovered") return null;
  const json = Buffer.from(text.slice(prefix.length), "base64url").toString("utf8");
  // Only `personText` writes what is signed.
  const [issuer, name, value] = JSON.parse(json) as [string, string, string];
  const role = issuer === oidc.provider.endpoints.issuer ? oidc.roles.get(value) : undefined;
  return role === undefined ? null : { name, role };
}
