import type Provider from "oidc-provider";
import { findOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import { publicBaseUrl } from "../../../platform/net/addresses.ts";
import { AppError } from "../../../platform/errors.ts";
import { callHandler, type Dispatch, type OAuthAnswer, type OAuthRequest } from "./bridge.ts";
import type { OpenSignIn } from "../../../../db/queries/sessions/token-families.ts";
import { oauthPaths, signInNumberDetail } from "./constants.ts";
import { errorPage } from "./error-page.ts";
import { findSignIn, openGrantSession, type Allower } from "./grants.ts";
import { heldSecret } from "./held-secret.ts";
import type { OAuthOptions } from "./provider.ts";

/** The consent question of a player. */
export interface ConsentQuestion {
  clientName: string;
  realm: string;
  scopes: string[];
  /** The program requires a new sign-in for this request. */
  mustSignIn: boolean;
}

/** The OAuth 2.0 server of this process; the library behind it is loaded at the first call (OA-06). */
export interface OAuthServer {
  /** Handles a protocol request, outside the envelope. */
  serve(request: OAuthRequest): Promise<OAuthAnswer>;
  /** Throws `oauth:request_expired` unless this browser has this request open. */
  question(request: OAuthRequest, uid: string): Promise<ConsentQuestion>;
  /** Address of the browser's redirect; `allower` null denies. */
  answer(request: OAuthRequest, uid: string, allower: Allower | null): Promise<string>;
  /** Identifies the valid secret in a request of a program; null without one. */
  heldSecret(request: OAuthRequest): Promise<string | null>;
}

export function createOAuthServer(options: OAuthOptions): OAuthServer {
  const base = new URL(publicBaseUrl(options.config));
  let loading: Promise<Provider> | null = null;
  const load = (): Promise<Provider> => {
    loading ??= import("./provider.ts").then(({ createProvider }) => createProvider(options));
    return loading;
  };
  const inside = <T>(request: OAuthRequest, work: InteractionWork<T>): Promise<T> =>
    load().then((provider) => withInteraction(provider, request, base, work));
  return {
    heldSecret: (request) => heldSecret(options, request),
    serve: async (request) => {
      if (asksForOtherMode(request)) return otherModeAnswer;
      const provider = await load();
      return callHandler(provider.callback(), request, base);
    },
    question: (request, uid) => inside(request, ({ details }) => ask(options, details, uid)),
    answer: (request, uid, allower) =>
      inside(request, async ({ provider, details, settle }) => {
        const question = await ask(options, details, uid);
        if (allower === null) return settle({ error: "access_denied" });
        const signIn = await findSignIn(options, allower);
        if (!isRecentEnough(details, signIn, options.clock.now()))
          throw new AppError("oauth:sign_in_required");
        const accountId = String(allower.playerId);
        const clientId = String(details.params["client_id"]);
        const grant = new provider.Grant({ accountId, clientId });
        if (question.scopes.length > 0) grant.addOIDCScope(question.scopes.join(" "));
        const grantId = await grant.save();
        await openGrantSession(options, allower, { id: grantId, ...question });
        // Without a known sign-in time the claim is omitted: a program that requires one was refused above.
        const ts = Math.floor(signInTime(details, signIn, options.clock.now()) / 1_000);
        return settle({ login: { accountId, remember: false, ts }, consent: { grantId } });
      }),
  };
}

/** Refused before the library, which would report the error in that response mode. */
function asksForOtherMode({ target }: OAuthRequest): boolean {
  // An empty parameter counts as absent (RFC 6749, 3.1).
  const query = target.slice(target.indexOf("?") + 1);
  const modes = new URLSearchParams(query).getAll("response_mode");
  const isOther = modes.some((mode) => mode !== "" && mode !== "query");
  return target.startsWith(oauthPaths.authorization) && isOther;
}

const otherModeAnswer: OAuthAnswer = {
  status: 400,
  type: "text/html; charset=utf-8",
  body: Buffer.from(errorPage("invalid_request")),
  headers: [],
};

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;
type Result = Parameters<Provider["interactionResult"]>[2];

interface OpenInteraction {
  provider: Provider;
  details: Details;
  /** Stores the outcome and returns the address of the redirect. */
  settle: (result: Result) => Promise<string>;
}

type InteractionWork<T> = (interaction: OpenInteraction) => Promise<T>;

/** The library finds an open request by a cookie, so it is called with a request that has it. */
async function withInteraction<T>(
  provider: Provider,
  request: OAuthRequest,
  base: URL,
  work: InteractionWork<T>,
): Promise<T> {
  const done = Promise.withResolvers<T>();
  const dispatch: Dispatch = (incoming, response) => {
    const settle = (result: Result) =>
      provider.interactionResult(incoming, response, result, { mergeWithLastSubmission: false });
    provider
      .interactionDetails(incoming, response)
      .catch((cause: unknown) => refuseExpired(cause))
      .then((details) => work({ provider, details, settle }))
      .then(done.resolve, done.reject)
      .finally(() => response.end());
  };
  const { method: _method, ...rest } = request;
  const [value] = await Promise.all([
    done.promise,
    callHandler(dispatch, { ...rest, method: "GET", body: null }, base),
  ]);
  return value;
}

function refuseExpired(cause: unknown): never {
  const isExpired = cause instanceof Error && cause.name === "SessionNotFound";
  throw isExpired ? new AppError("oauth:request_expired", { cause }) : cause;
}

const knownScopes = new Set(["openid", "offline_access", "profile", "email"]);

async function ask(
  { fork }: OAuthOptions,
  details: Details,
  uid: string,
): Promise<ConsentQuestion> {
  if (details.uid !== uid) throw new AppError("oauth:request_expired");
  const client = await findOAuthClient(fork(), String(details.params["client_id"]));
  if (client === null) throw new AppError("oauth:request_expired");
  const asked = String(details.params["scope"] ?? "").split(" ");
  const scopes = [...new Set(asked)].filter((scope) => knownScopes.has(scope));
  const mustSignIn = oldestSignInMs(details) === 0;
  return { clientName: client.name, realm: client.realm, scopes, mustSignIn };
}

/** Maximum age of the sign-in at the consent; 0: not before the request. */
function oldestSignInMs({ params }: Details): number {
  if (
    String(params["prompt"] ?? "")
      .split(" ")
      .includes("login")
  )
    return 0;
  return params["max_age"] === undefined ? Infinity : Number(params["max_age"]) * 1_000;
}

/** Tolerated clock difference between hosts for the age of a sign-in. */
const clockToleranceMs = 60_000;

/**
 * The library treats every consent as a new sign-in. Our session may be weeks old, so this function checks the
 * required age (prompt=login, max_age).
 */
function isRecentEnough(details: Details, signIn: OpenSignIn, now: number): boolean {
  const oldest = oldestSignInMs(details);
  const { authenticatedAtMs } = signIn;
  if (authenticatedAtMs === null) return oldest === Infinity;
  if (oldest === Infinity || isSince(details, signIn)) return true;
  const age = now - authenticatedAtMs;
  // A time in the future is from a host whose clock is ahead: its age is unknown.
  return oldest > 0 && age < oldest && age >= -clockToleranceMs;
}

/**
 * True when a sign-in was made for this request. Compares sequence numbers, not times, since clocks of hosts differ.
 */
function isSince({ prompt, iat }: Details, signIn: OpenSignIn): boolean {
  const { signInNumber, authenticatedAtMs } = signIn;
  const started = prompt.details[signInNumberDetail];
  // A request of a version without sequence numbers.
  if (typeof started !== "number") return (authenticatedAtMs ?? 0) >= iat * 1_000;
  return signInNumber !== null && signInNumber > started;
}

/** Time of the sign-in in milliseconds, clamped between the start of the request and now. */
function signInTime(details: Details, signIn: OpenSignIn, now: number): number {
  const ms = signIn.authenticatedAtMs ?? 0;
  return isSince(details, signIn) ? Math.min(now, Math.max(ms, details.iat * 1_000)) : ms;
}
