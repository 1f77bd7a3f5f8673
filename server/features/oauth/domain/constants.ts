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
/** Seconds each thing of the protocol lives. */
export const lifetimes = {
  AuthorizationCode: 60,
  AccessToken: 3_600,
  IdToken: 3_600,
  RefreshToken: 30 * daySeconds,
  Interaction: 600,
  Session: 600,
} as const;

/** Seconds a consent stands: for later up to the bound of every session (TOK-05), else until its last token has ended. */
export function grantSeconds(scopes: readonly string[]): number {
  if (scopes.includes("offline_access")) return 180 * daySeconds;
  return lifetimes.Interaction + lifetimes.AuthorizationCode + lifetimes.AccessToken;
}

/** Cookie the library remembers a browser by; kept from browsers (bridge.ts). */
export const sessionCookie = "svc_oauth_session";

/** Where a request notes its place among the sign-ins: what has a higher number signed in since. */
export const signInNumberDetail = "sign_in_number";
