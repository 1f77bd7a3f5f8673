import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import { resetAvatar } from "../../../db/queries/avatars/avatars.ts";
import { deleteConnection, listConnections } from "../../../db/queries/social/oauth-connections.ts";
import { publicBaseUrl } from "../../platform/net/addresses.ts";
import { AppError } from "../../platform/errors.ts";
import type { OauthProvider } from "../../platform/config/oauth-providers.ts";
import type { WithConfig } from "../../platform/capabilities.ts";
import type { SocialDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { requireRecentSignIn } from "../sessions/recent-sign-in.ts";
import type { ClientInfo, Session } from "../sessions/sessions.ts";
import { postMessages } from "../delivery/domain/send.ts";
import { writeRemoval } from "../verification/notices.ts";
import { linkSocially, signInSocially } from "./accounts.ts";
import { loginNotice } from "./notices.ts";
import { readPostedName } from "./posted-name.ts";
import { authorizationUrl } from "./code-exchange.ts";
import { readProfile } from "./profiles.ts";
import {
  browserHash,
  keepPostedName,
  randomSecret,
  saveState,
  type PendingSignIn,
  type TakenSignIn,
} from "./states.ts";

export function findProvider({ config }: WithConfig, id: string): OauthProvider {
  const provider = config.oauthProviders.find((one) => one.id === id);
  if (!provider) throw new AppError("oauth:provider_unknown");
  return provider;
}

/** Callback address; registered at the provider, so never derived from a request. */
const redirectUriOf = ({ config }: WithConfig, { id }: OauthProvider) =>
  `${publicBaseUrl(config)}/v1/gateway/oauth/${id}/callback`;

export interface BeginInput {
  mode: "login" | "link";
  caller: Caller | null;
  redirect: string;
  realm: string;
  /** Value of the cookie that binds the state to the browser. */
  browser: string;
  /** Challenge that binds the state to a native client; null for a browser. */
  challenge: string | null;
}

/** Stores the state of a new sign-in and returns the provider's address (OA-02). */
export async function beginSignIn(
  deps: SocialDeps,
  provider: OauthProvider,
  { mode, caller, redirect, realm, browser, challenge }: BeginInput,
): Promise<{ url: string; state: string }> {
  const linker = mode === "link" ? await readLinker(deps, caller) : null;
  const [state, nonce, codeVerifier] = [randomSecret(), randomSecret(), randomSecret()];
  const redirectUri = redirectUriOf(deps, provider);
  const url = await authorizationUrl(provider, { redirectUri, state, nonce, codeVerifier });
  await saveState(deps, state, {
    provider: provider.id,
    linker,
    redirect,
    realm,
    nonce,
    codeVerifier,
    browserHash: browserHash(browser),
    challenge,
  });
  return { url, state };
}

async function readLinker(
  deps: SocialDeps,
  caller: Caller | null,
): Promise<PendingSignIn["linker"]> {
  if (caller === null) throw new AppError("auth:required");
  if (caller.isGuest) throw new AppError("auth:forbidden");
  // Asked at the start, not again at the callback (USR-12).
  await requireRecentSignIn(deps, caller);
  const { playerId, family } = caller;
  return { playerId, family };
}

/** Fields that a provider returns, by redirect or form. */
const callbackFields = ["code", "state", "iss", "error"] as const;

/**
 * Address of our callback that continues a form posted by the provider (OA-09). The post comes from another site, so it
 * has no cookie to prove the browser with; the address is visited with it.
 */
export async function continuePosted(
  deps: SocialDeps,
  provider: OauthProvider,
  form: URLSearchParams,
): Promise<string> {
  const name = readPostedName(form.get("user"));
  const of = { state: form.get("state") ?? "", provider: provider.id };
  if (name !== null) await keepPostedName(deps, of, name);
  const goal = new URL(redirectUriOf(deps, provider));
  for (const field of callbackFields) {
    const value = form.get(field);
    if (value !== null) goal.searchParams.set(field, value);
  }
  return goal.href;
}

/** Parameters of the provider's callback. */
export interface CallbackParams {
  state: string;
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
}

export interface Returning {
  client: ClientInfo;
  locale: string;
}

/** Completes a sign-in after its state was consumed; a link opens no session unless `isNative` (OA-03, OA-04). */
export async function finishSignIn(
  deps: SocialDeps,
  provider: OauthProvider,
  pending: TakenSignIn,
  params: CallbackParams,
  { client, locale, isNative = false }: Returning & { isNative?: boolean },
): Promise<Session | null> {
  if (params.error !== undefined || !params.code) throw new AppError("oauth:provider_denied");
  const callback = new URL(redirectUriOf(deps, provider));
  const { state, code } = params;
  // Without a known issuer there is nothing to compare it with (OA-07).
  const iss = provider.endpoints.issuer === null ? undefined : params.iss;
  for (const [name, value] of Object.entries({ state, code, iss }))
    if (value !== undefined) callback.searchParams.set(name, value);
  const profile = await readProfile(deps, provider, { callback, state, pending });
  const signIn = { provider: provider.id, profile, locale };
  if (pending.linker === null) return signInSocially(deps, signIn, client);
  return linkSocially(deps, pending.linker, signIn, isNative ? client : null);
}

/** Removes a login and its picture from an account, but never the last way to sign in (OA-05). */
export async function unlink(deps: SocialDeps, playerId: number, provider: string): Promise<void> {
  const mail = await deps.em.transactional(async (em) => {
    // The lock serializes concurrent removals.
    const player = await lockAccount(em, playerId);
    if (!player) throw new AppError("user:not_found");
    const all = await listConnections(em, playerId);
    if (!all.some((one) => one.provider === provider)) throw new AppError("oauth:provider_unknown");
    if (!player.passwordHash && all.length === 1) throw new AppError("oauth:last_credential");
    await deleteConnection(em, { playerId, provider });
    await resetAvatar(em, playerId, { source: provider, now: new Date(deps.clock.now()) });
    return writeRemoval(em, deps, playerId, loginNotice(deps, "login-unlinked", provider));
  });
  await postMessages(deps, [mail]);
}
