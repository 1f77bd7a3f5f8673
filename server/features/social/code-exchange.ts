import * as oidc from "openid-client";
import { unavailable } from "../../http/pipeline/failures.ts";
import type { OauthProvider } from "../../platform/config/oauth-providers.ts";
import { AppError } from "../../platform/errors.ts";
import { configurationOf } from "./provider-client.ts";

/** What a provider returned to the browser, and what was kept of the start. */
export interface CodeInput {
  /** Callback address with the parameters of the provider. */
  callback: URL;
  state: string;
  pending: { codeVerifier: string; nonce: string };
}

export type Tokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

/** Why a sign-in failed, without any text of a token (S27). */
export interface ExchangeFailure {
  provider: string;
  reason: string;
  /** True: the provider refused; false: it is unavailable. */
  refused: boolean;
}

/** Authorization address, with PKCE, state and nonce (OA-02). */
export async function authorizationUrl(
  provider: OauthProvider,
  input: { redirectUri: string; state: string; nonce: string; codeVerifier: string },
): Promise<string> {
  const configuration = await configurationOf(provider);
  const isOidc = provider.endpoints.kind === "discovered";
  const url = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: input.redirectUri,
    state: input.state,
    code_challenge: await oidc.calculatePKCECodeChallenge(input.codeVerifier),
    code_challenge_method: "S256",
    ...(provider.scopes === "" ? {} : { scope: provider.scopes }),
    ...(provider.responseMode === null ? {} : { response_mode: provider.responseMode }),
    ...(isOidc ? { nonce: input.nonce } : {}),
  });
  return url.href;
}

/**
 * Exchanges the code and reads who signed in. A refusal of the provider is `oauth:provider_denied`, an outage
 * `server:unavailable`; `report` gets the reason of both.
 */
export async function exchangeCode<T>(
  provider: OauthProvider,
  { callback, state, pending }: CodeInput,
  read: (configuration: oidc.Configuration, tokens: Tokens) => T | Promise<T>,
  report: (failure: ExchangeFailure) => void,
): Promise<T> {
  const configuration = await configurationOf(provider);
  const isOidc = provider.endpoints.kind === "discovered";
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: state,
      ...(isOidc ? { expectedNonce: pending.nonce, idTokenExpected: true } : {}),
    });
    return await read(configuration, tokens);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = reasonOf(error);
    const refused = isRefusal(error);
    report({ provider: provider.id, reason, refused });
    throw refused
      ? new AppError("oauth:provider_denied", { cause: error })
      : unavailable(new Error(reason));
  }
}

export type Claims = Readonly<Record<string, unknown>>;

/** Claims of the ID token; those needed that it lacks are read at the address for user info. */
export async function readClaims(
  configuration: oidc.Configuration,
  tokens: Tokens,
  needed: readonly string[],
): Promise<Claims> {
  const claims = tokens.claims();
  if (!claims) throw new AppError("oauth:provider_denied");
  const isComplete = needed.every((name) => claims[name] !== undefined);
  if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return claims;
  const more = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const { email, email_verified } = addressedBy(claims, more);
  return { ...more, ...claims, email, email_verified };
}

/** Id token and user info may have different addresses: one verified does not verify the other. */
export function addressedBy(token: Claims, user: Claims): Claims {
  if (user["email"] === undefined) return token;
  return user["email"] === token["email"] ? { ...token, ...user } : user;
}

/** True for a refusal or an invalid response; false for an outage of the provider. */
const isRefusal = (error: unknown): boolean =>
  error instanceof oidc.ResponseBodyError ||
  error instanceof oidc.AuthorizationResponseError ||
  error instanceof oidc.WWWAuthenticateChallengeError ||
  (error instanceof oidc.ClientError && !outages.has(error.code));

/** Form of the error codes of RFC 6749, which show an operator the misconfiguration. */
const errorCode = /^[a-z_]{1,40}$/;

/** The parser's message repeats text that is no JSON, such as a token or personal data (S27). */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return "the provider's answer is no JSON";
  const code = codeOf(error);
  if (code !== undefined && errorCode.test(code)) return `the provider answered ${code}`;
  return error instanceof Error ? error.message : String(error);
}

/** The provider's error code, from its body or its WWW-Authenticate header. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof oidc.ResponseBodyError) return error.error;
  if (!(error instanceof oidc.WWWAuthenticateChallengeError)) return undefined;
  return error.cause[0]?.parameters["error"];
}

/** The library's codes for an unreachable provider or an invalid response. */
const outages: ReadonlySet<string | undefined> = new Set([
  undefined,
  "OAUTH_MISSING_SERVER_METADATA",
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
  "OAUTH_HTTP_REQUEST_FORBIDDEN",
]);
