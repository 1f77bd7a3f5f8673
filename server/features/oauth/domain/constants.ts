/** Where the endpoints are (OA-06). */
export const oauthPaths = {
  authorization: "/v1/oauth/authorize",
  token: "/v1/oauth/token",
  revocation: "/v1/oauth/revoke",
  userinfo: "/v1/oauth/userinfo",
  jwks: "/v1/oauth/jwks",
  consent: "/v1/oauth/consent",
} as const;

const daySeconds = 86_400;
/** Lifetime of each protocol entry in seconds. */
export const lifetimes = {
  AuthorizationCode: 60,
  AccessToken: 3_600,
  IdToken: 3_600,
  RefreshToken: 30 * daySeconds,
  Interaction: 600,
  Session: 600,
} as const;

/** Lifetime of a consent in seconds: with offline access that of a session (TOK-05), else that of its last token. */
export function grantSeconds(scopes: readonly string[]): number {
  if (scopes.includes("offline_access")) return 180 * daySeconds;
  return lifetimes.Interaction + lifetimes.AuthorizationCode + lifetimes.AccessToken;
}

/** Session cookie of the library; it never reaches a browser (bridge.ts). */
export const sessionCookie = "svc_oauth_session";

/** Member with the sequence number of a request among sign-ins: a higher number is a later sign-in. */
export const signInNumberDetail = "sign_in_number";
