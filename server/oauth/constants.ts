/** Where the endpoints are (OA-06). */
export const oauthPaths = {
  authorization: "/v1/oauth/authorize",
  token: "/v1/oauth/token",
  revocation: "/v1/oauth/revoke",
  userinfo: "/v1/oauth/userinfo",
  jwks: "/v1/oauth/jwks",
  consent: "/v1/oauth/consent",
} as const;

export const daySeconds = 86_400;
/** No grant outlives this: the bound of every session (TOK-05). */
export const grantSeconds = 180 * daySeconds;
/** Cookie the library remembers a browser by; kept from browsers (bridge.ts). */
export const sessionCookie = "svc_oauth_session";
