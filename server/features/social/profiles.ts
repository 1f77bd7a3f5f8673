import * as oidc from "openid-client";
import { isSameMailbox, normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { isNewName } from "../../platform/text/name-rules.ts";
import type { OauthProvider } from "../../platform/config/oauth-providers.ts";
import type { WithClock, WithLog } from "../../platform/capabilities.ts";
import { unavailable } from "../../http/pipeline/failures.ts";
import { configurationOf } from "./provider-client.ts";
import type { TakenSignIn } from "./states.ts";

/** Profile from the provider, unvalidated. */
export interface Profile {
  subject: string;
  /** Normal form. */
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
  avatarUrl: string | null;
  /** Time of the authentication at the provider, if known; never later than now. */
  authenticatedAt: Date | null;
}

const maxSubject = 255;
const maxAvatarUrl = 2_048;

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

/** Exchanges the code and reads the profile; a refusal of the provider is `oauth:provider_denied`. */
export async function readProfile(
  deps: WithClock & WithLog,
  provider: OauthProvider,
  { callback, state, pending }: { callback: URL; state: string; pending: TakenSignIn },
): Promise<Profile> {
  const profile = await exchangeCode(deps, provider, { callback, state, pending });
  return { ...profile, name: profile.name ?? pending.postedName };
}

async function exchangeCode(
  deps: WithClock & WithLog,
  provider: OauthProvider,
  { callback, state, pending }: { callback: URL; state: string; pending: TakenSignIn },
): Promise<Profile> {
  const configuration = await configurationOf(provider);
  const isOidc = provider.endpoints.kind === "discovered";
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: state,
      ...(isOidc ? { expectedNonce: pending.nonce, idTokenExpected: true } : {}),
    });
    const claims = tokens.claims();
    if (!claims) return toProfile(await readPlainUser(configuration, tokens));
    const authenticatedAt = signInTimeOf(claims, deps.clock.now());
    const isComplete = claims["email"] !== undefined && claims["name"] !== undefined;
    if (isComplete || !configuration.serverMetadata().userinfo_endpoint)
      return { ...toProfile(claims), authenticatedAt };
    const more = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return { ...toProfile({ ...claims, ...more }, addressedBy(claims, more)), authenticatedAt };
  } catch (error) {
    throw failureOf(deps, provider, error);
  }
}

async function readPlainUser(
  configuration: oidc.Configuration,
  tokens: { access_token: string },
): Promise<Record<string, unknown>> {
  const url = new URL(configuration.serverMetadata().userinfo_endpoint ?? "");
  const headers = new Headers({ accept: "application/json", "user-agent": "emberline" });
  const answer = await oidc.fetchProtectedResource(
    configuration,
    tokens.access_token,
    url,
    "GET",
    null,
    headers,
  );
  if (answer.status >= 500) throw unavailable(new Error(`the provider answered ${answer.status}`));
  if (!answer.ok) throw new AppError("oauth:provider_denied");
  const json: unknown = await answer.json();
  return typeof json === "object" && json !== null ? { ...json } : {};
}

type Claims = Record<string, unknown>;

/** Id token and user info may have different addresses: one verified does not verify the other. */
function addressedBy(token: Claims, user: Claims): Claims {
  if (user["email"] === undefined) return token;
  return user["email"] === token["email"] ? { ...token, ...user } : user;
}

/** `addressed`: the claims with the address and its verification. */
function toProfile(claims: Claims, addressed = claims): Profile {
  const subject = claims["sub"] ?? claims["id"];
  const id = typeof subject === "number" ? String(subject) : subject;
  if (typeof id !== "string" || id === "" || id.length > maxSubject || /\0/.test(id))
    throw new AppError("oauth:provider_denied");
  const { picture, avatar_url } = claims;
  const { email } = addressed;
  const verified = addressed["email_verified"] ?? addressed["verified_email"];
  const isVerified = verified === true || verified === "true";
  const normal = typeof email === "string" ? normalizeEmail(email) : null;
  const names = [claims["name"], claims["preferred_username"], claims["login"]];
  const name = names.find((one) => typeof one === "string" && isNewName(one));
  return {
    subject: id.toWellFormed(),
    email: normal,
    isEmailVerified: isVerified && normal !== null && isSameMailbox(String(email), normal),
    name: typeof name === "string" ? name.trim() : null,
    avatarUrl: httpsUrl(picture) ?? httpsUrl(avatar_url),
    authenticatedAt: null,
  };
}

/** The person may be signed in at the provider for weeks: only the signed token's time counts. */
function signInTimeOf({ auth_time: seconds }: Claims, now: number): Date | null {
  const isTime = typeof seconds === "number" && seconds > 0 && Number.isFinite(seconds);
  return isTime ? new Date(Math.min(now, seconds * 1_000)) : null;
}

function httpsUrl(value: unknown): string | null {
  if (typeof value !== "string" || value.length > maxAvatarUrl || !URL.canParse(value)) return null;
  const { protocol, href } = new URL(value);
  return protocol === "https:" && href.length <= maxAvatarUrl ? href : null;
}

/** Maps a refusal, an invalid response or an outage of the provider to an error. */
function failureOf({ log }: WithLog, { id }: OauthProvider, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isRefusal =
    error instanceof oidc.ResponseBodyError ||
    error instanceof oidc.AuthorizationResponseError ||
    error instanceof oidc.WWWAuthenticateChallengeError ||
    (error instanceof oidc.ClientError && !outages.has(error.code));
  const reason = reasonOf(error);
  log.warn(
    { event: "social_login_failed", provider: id, reason, refused: isRefusal },
    "social login failed",
  );
  return isRefusal
    ? new AppError("oauth:provider_denied", { cause: error })
    : unavailable(new Error(reason));
}

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
