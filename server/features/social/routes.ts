import Type, { type Static } from "typebox";
import { AppError } from "../../platform/errors.ts";
import { preferredLocale } from "../../platform/text/locales.ts";
import { readForm } from "../../http/pipeline/body.ts";
import { isPreview } from "../../http/pipeline/preview.ts";
import type { SocialDeps } from "./deps.ts";
import {
  routesWith,
  redirect,
  redirectReply,
  reply,
  seeOtherReply,
  type Route,
  type Headers,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { allowedRedirect } from "../sessions/redirects.ts";
import { clientInfoOf } from "../sessions/sessions.ts";
import { sessionReply } from "../sessions/replies.ts";
import { SessionBody } from "../sessions/schemas.ts";
import { setRefreshCookie } from "../sessions/cookies.ts";
import { visitPage, visitPages } from "../sessions/visit-page.ts";
import { readFrontEnd } from "../realms/service.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { readBrowser, setBrowserCookie } from "./cookies.ts";
import { beginSignIn, continuePosted, findProvider, finishSignIn } from "./service.ts";
import {
  holdsState,
  isStateOpen,
  randomSecret,
  stateSeconds,
  takeState,
  type PendingSignIn,
} from "./states.ts";

const defineRoute = routesWith<SocialDeps>();
const tag = "Social login";
const limit = { max: 30, window: 60 };
const Provider = Type.Object({ provider: Type.String({ pattern: "^[a-z0-9_-]{2,32}$" }) });
const Text = Type.Optional(Type.String({ maxLength: 2_048 }));

const CallbackQuery = Type.Object({ code: Text, state: Text, iss: Text, error: Text });

const providers = defineRoute({
  method: "GET",
  path: "/v1/gateway/oauth/providers",
  summary: "List the social logins",
  tag,
  auth: "public",
  source: "OA-01",
  responses: {
    200: Type.Object({
      providers: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
  },
  errors: [],
  handler: ({ deps }) =>
    reply(200, { providers: deps.config.oauthProviders.map(({ id, name }) => ({ id, name })) }),
});

const begin = defineRoute({
  method: "GET",
  path: "/v1/gateway/oauth/{provider}/url",
  summary: "Get the address of a provider's sign-in page",
  tag,
  auth: "optional",
  source: "document 1, Gateway; OA-02, USR-12",
  setsCookie: "by-page",
  rateLimit: limit,
  params: Provider,
  notFoundCode: "oauth:provider_unknown",
  query: Type.Object({
    redirect: Type.Optional(Type.String()),
    mode: Type.Enum(["login", "link"], { default: "login" }),
    code_challenge: Type.Optional(
      Type.String({
        pattern: "^[\\w-]{43}$",
        description: "for native clients: base64url of the SHA-256 of the code_verifier (RFC 7636)",
      }),
    ),
    code_challenge_method: Type.Optional(Type.Enum(["S256"])),
  }),
  responses: {
    200: Type.Object({
      url: Type.String(),
      state: Type.String(),
      provider: Type.String(),
      expires_in: Type.Integer(),
    }),
  },
  errors: [
    "oauth:provider_unknown",
    "sso:redirect_invalid",
    "auth:required",
    "auth:token_invalid",
    "auth:forbidden",
    "auth:proof_required",
    "server:unavailable",
  ],
  handler: async ({ params, query, caller, deps, request }) => {
    const provider = findProvider(deps, params.provider);
    const { realm } = await clientInfoOf(deps, request);
    const goal =
      query.redirect === undefined
        ? `${await readFrontEnd(deps, realm)}/`
        : await allowedRedirect(deps, query.redirect);
    // The tabs of a browser share the cookie, so that each may finish.
    const browser = readBrowser(request) ?? randomSecret();
    const challenge = query.code_challenge ?? null;
    const input = { mode: query.mode, caller, redirect: goal, realm, browser, challenge };
    const { url, state } = await beginSignIn(deps, provider, input);
    const body = { url, state, provider: provider.id, expires_in: stateSeconds };
    return reply(200, body, [...setBrowserCookie(browser), ["Cache-Control", "no-store"]]);
  },
});

const callback = defineRoute({
  method: "GET",
  path: "/v1/gateway/oauth/{provider}/callback",
  summary: "Callback of the provider",
  tag,
  auth: "public",
  source: "OA-03",
  setsCookie: "by-visit",
  params: Provider,
  notFoundCode: "oauth:provider_unknown",
  query: CallbackQuery,
  lenientQuery: true,
  responses: { 302: redirect, ...visitPages },
  errors: ["oauth:provider_unknown", "oauth:state_invalid"],
  handler: ({ params, query, deps, request }) =>
    finishInBrowser(deps, params.provider, query, request).catch((error: unknown) =>
      visitPage(deps, request, error),
    ),
});

async function finishInBrowser(
  deps: SocialDeps,
  name: string,
  query: Static<typeof CallbackQuery>,
  request: RequestInfo,
) {
  const provider = findProvider(deps, name);
  // A preview must not consume the state; a browser without the cookie did not start the sign-in.
  const cookie = isPreview(request) ? null : readBrowser(request);
  const proof = { cookie, verifier: null };
  const pending = await takeState(deps, { state: query.state, provider: provider.id, proof });
  const returning = returningOf(deps, request, pending);
  const answer = { ...query, state: query.state ?? "" };
  try {
    const session = await finishSignIn(deps, provider, pending, answer, await returning);
    const cookies =
      session === null ? [] : setRefreshCookie(session.body.refresh_token, session.cookieSeconds);
    return redirectReply(pending.redirect, [...quiet, ...cookies]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const goal = new URL(pending.redirect);
    goal.searchParams.set("error", error.code);
    return redirectReply(goal.href, quiet);
  }
}

const postedCallback = defineRoute({
  method: "POST",
  path: "/v1/gateway/oauth/{provider}/callback",
  summary: "Callback of a provider that posts a form; continues by GET",
  tag,
  auth: "public",
  source: "OA-09",
  rateLimit: limit,
  heldSecret: async ({ deps, request }) => {
    const state = readForm(request.body).get("state") ?? "";
    return (await isStateOpen(deps, state)) ? state : null;
  },
  params: Provider,
  notFoundCode: "oauth:provider_unknown",
  urlForm: Type.Object({ code: Text, state: Text, iss: Text, error: Text, user: Text }),
  responses: { 303: redirect },
  errors: ["oauth:provider_unknown"],
  handler: async ({ params, deps, request }) => {
    const provider = findProvider(deps, params.provider);
    const goal = await continuePosted(deps, provider, readForm(request.body));
    return seeOtherReply(goal, quiet);
  },
});

const nativeCallback = defineRoute({
  method: "POST",
  path: "/v1/gateway/oauth/{provider}/callback",
  summary: "Exchange the code received by a native client for a session, with its code_verifier",
  tag,
  auth: "public",
  source: "OA-03, OA-04",
  rare: { formRoute: postedCallback },
  setsCookie: "by-page",
  rateLimit: limit,
  heldSecret: async ({ body, deps, request }) => {
    const proof = { cookie: readBrowser(request), verifier: body.code_verifier ?? null };
    return (await holdsState(deps, body.state, proof)) ? body.state : null;
  },
  params: Provider,
  notFoundCode: "oauth:provider_unknown",
  body: Type.Object({
    code: Type.String({ minLength: 1, maxLength: 2_048 }),
    state: Type.String({ minLength: 1, maxLength: 255 }),
    iss: Type.Optional(Type.String({ maxLength: 2_048 })),
    code_verifier: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._~-]{43,128}$",
        description: "verifier of the code_challenge; a browser sends its cookie instead",
      }),
    ),
  }),
  responses: { 200: SessionBody },
  errors: [
    "oauth:provider_unknown",
    "oauth:state_invalid",
    "oauth:provider_denied",
    "oauth:already_linked",
    "auth:token_invalid",
    "server:unavailable",
  ],
  handler: async ({ params, body, deps, request }) => {
    const provider = findProvider(deps, params.provider);
    const proof = { cookie: readBrowser(request), verifier: body.code_verifier ?? null };
    const pending = await takeState(deps, { state: body.state, provider: provider.id, proof });
    const returning = { ...(await returningOf(deps, request, pending)), isNative: true };
    const session = await finishSignIn(deps, provider, pending, body, returning);
    if (session === null) throw new AppError("oauth:state_invalid");
    return sessionReply(200, session);
  },
});

async function returningOf(deps: SocialDeps, request: RequestInfo, { realm }: PendingSignIn) {
  const client = { ...(await clientInfoOf(deps, request)), realm };
  return { client, locale: preferredLocale(request.headers["accept-language"]) };
}

/** The address has the code: it must not leak by Referer or caches. */
const quiet: Headers = [
  ["Cache-Control", "no-store"],
  ["Referrer-Policy", "no-referrer"],
];

export const socialRoutes: Route<SocialDeps>[] = [
  providers,
  begin,
  callback,
  nativeCallback,
  ...connectionRoutes,
];
