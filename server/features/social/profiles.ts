import * as oidc from "openid-client";
import { isSameMailbox, normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { isNewName } from "../../platform/text/name-rules.ts";
import type { OauthProvider } from "../../platform/config/oauth-providers.ts";
import type { WithClock, WithLog } from "../../platform/capabilities.ts";
import { unavailable } from "../../http/pipeline/failures.ts";
import { addressedBy, exchangeCode, type Claims, type Tokens } from "./code-exchange.ts";
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

/** Exchanges the code and reads the profile; a refusal of the provider is `oauth:provider_denied`. */
export async function readProfile(
  deps: WithClock & WithLog,
  provider: OauthProvider,
  { callback, state, pending }: { callback: URL; state: string; pending: TakenSignIn },
): Promise<Profile> {
  const profile = await exchangeCode(
    provider,
    { callback, state, pending },
    (configuration, tokens) => profileOf(deps, configuration, tokens),
    (failure) => deps.log.warn({ event: "social_login_failed", ...failure }, "social login failed"),
  );
  return { ...profile, name: profile.name ?? pending.postedName };
}

/** The profile in the ID token and, where that is incomplete, at the address for user info. */
async function profileOf(
  { clock }: WithClock,
  configuration: oidc.Configuration,
  tokens: Tokens,
): Promise<Profile> {
  const claims = tokens.claims();
  if (!claims) return toProfile(await readPlainUser(configuration, tokens));
  const authenticatedAt = signInTimeOf(claims, clock.now());
  const isComplete = claims["email"] !== undefined && claims["name"] !== undefined;
  if (isComplete || !configuration.serverMetadata().userinfo_endpoint)
    return { ...toProfile(claims), authenticatedAt };
  const more = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return { ...toProfile({ ...claims, ...more }, addressedBy(claims, more)), authenticatedAt };
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
