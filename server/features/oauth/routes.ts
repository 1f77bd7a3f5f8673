import { pagePolicy } from "../../platform/text/notice-page.ts";
import { readForm } from "../../http/pipeline/body.ts";
import type { OAuthDeps } from "./deps.ts";
import {
  bytesReply,
  routesWith,
  media,
  redirect,
  reply,
  seeOtherReply,
  type Route,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { consentPage } from "./consent-page.ts";
import * as s from "./schemas.ts";

const defineRoute = routesWith<OAuthDeps>();
const tag = "OAuth 2.0";
const source = "OA-06";
const html = media("text/html");
const json = media("application/json");

/** The library's response is sent unchanged, outside the envelope. Its status is not known to the route's types. */
async function pass(deps: OAuthDeps, request: RequestInfo): Promise<never> {
  const target = request.query === "" ? request.path : `${request.path}?${request.query}`;
  const { status, type, body, headers } = await deps.oauth.serve({ ...callOf(request), target });
  const policy: [string, string][] = type.startsWith("text/html")
    ? [["Content-Security-Policy", pagePolicy]]
    : [];
  return bytesReply(status, type, body, [...headers, ...policy]) as never;
}

const callOf = ({ method, path, headers, body }: RequestInfo) => ({
  method,
  target: path,
  headers,
  body,
});

const authorizePath = "/v1/oauth/authorize";

const authorize = defineRoute({
  method: "GET",
  path: authorizePath,
  summary: "Let a player sign in to a client: code flow, PKCE with S256",
  tag,
  auth: "public",
  source,
  rateLimit: { max: 60, window: 60 },
  query: s.AuthorizeQuery,
  lenientQuery: true,
  responses: { 303: redirect, 400: html },
  errors: [],
  handler: ({ deps, request }) => pass(deps, request),
});

/** OpenID Connect Core, 3.1.2.1: the parameters may come in a form, which continues as a GET. */
const authorizeByForm = defineRoute({
  method: "POST",
  path: authorizePath,
  summary: "The same with the parameters in a form; continues by GET",
  tag,
  auth: "public",
  source,
  rateLimit: { max: 60, window: 60 },
  urlForm: s.AuthorizeQuery,
  responses: { 303: redirect },
  errors: [],
  handler: ({ request }) => seeOtherReply(`${authorizePath}?${readForm(request.body).toString()}`),
});

const resume = defineRoute({
  method: "GET",
  path: "/v1/oauth/authorize/{uid}",
  summary: "Return to the client after the player's decision",
  tag,
  auth: "public",
  source,
  rateLimit: { max: 60, window: 60 },
  params: s.ConsentParams,
  responses: { 303: redirect, 400: html },
  errors: [],
  handler: ({ deps, request }) => pass(deps, request),
});

const token = defineRoute({
  method: "POST",
  path: "/v1/oauth/token",
  summary: "Exchange a code, or a refresh token, for tokens",
  tag,
  auth: "public",
  source,
  rateLimit: { max: 300, window: 60 },
  heldSecret: ({ deps, request }) => deps.oauth.heldSecret(callOf(request)),
  anyOrigin: true,
  urlForm: s.TokenForm,
  responses: { 200: json, 400: json, 401: json },
  errors: [],
  handler: ({ deps, request }) => pass(deps, request),
});

const revoke = defineRoute({
  method: "POST",
  path: "/v1/oauth/revoke",
  summary: "Revoke a token",
  tag,
  auth: "public",
  source,
  rateLimit: { max: 300, window: 60 },
  heldSecret: ({ deps, request }) => deps.oauth.heldSecret(callOf(request)),
  anyOrigin: true,
  urlForm: s.RevokeForm,
  responses: { 200: json, 400: json, 401: json },
  errors: [],
  handler: ({ deps, request }) => pass(deps, request),
});

const userinfo = {
  path: "/v1/oauth/userinfo",
  tag,
  auth: "public",
  source,
  anyOrigin: true,
  responses: { 200: json, 400: json, 401: json, 403: json },
  errors: [],
  handler: ({ deps, request }: { deps: OAuthDeps; request: RequestInfo }) => pass(deps, request),
} as const;

const readUserinfo = defineRoute({
  ...userinfo,
  method: "GET",
  summary: "Read the player of a client's access token",
});

/** OpenID Connect Core, 5.3.1 */
const postUserinfo = defineRoute({
  ...userinfo,
  method: "POST",
  summary: "The same by POST; the access token may be in the form instead of the header",
  rateLimit: { max: 300, window: 60 },
  heldSecret: ({ deps, request }) => deps.oauth.heldSecret(callOf(request)),
  urlForm: s.UserinfoForm,
});

const documents = [
  ["/.well-known/oauth-authorization-server", "Metadata of this server (RFC 8414)"],
  ["/.well-known/openid-configuration", "The same metadata for OpenID Connect clients"],
  ["/v1/oauth/jwks", "Public keys of the ID tokens"],
] as const;

const documentRoutes = documents.map(([path, summary]) =>
  defineRoute({
    method: "GET",
    path,
    summary,
    tag,
    auth: "public",
    source,
    anyOrigin: true,
    responses: { 200: json },
    errors: [],
    handler: ({ deps, request }) => pass(deps, request),
  }),
);

const question = defineRoute({
  method: "GET",
  path: "/v1/oauth/consent/{uid}/question",
  summary: "Question of the consent page; only for the browser that was redirected here",
  tag,
  auth: "public",
  source,
  params: s.ConsentParams,
  notFoundCode: "oauth:request_expired",
  responses: { 200: s.ConsentQuestion },
  errors: ["oauth:request_expired"],
  handler: async ({ params, deps, request }) => {
    const asked = await deps.oauth.question(callOf(request), params.uid);
    const { clientName, realm, scopes, mustSignIn } = asked;
    return reply(200, { client_name: clientName, realm, scopes, must_sign_in: mustSignIn });
  },
});

/** Requires both the player's access token and the cookie of the browser. */
const answer = defineRoute({
  method: "POST",
  path: "/v1/oauth/consent/{uid}",
  summary: "The player's decision",
  tag,
  auth: "registered",
  source,
  params: s.ConsentParams,
  notFoundCode: "oauth:request_expired",
  body: s.ConsentAnswer,
  responses: { 200: s.ConsentResult },
  errors: ["auth:token_invalid", "oauth:request_expired", "oauth:sign_in_required"],
  handler: async ({ params, body, caller, deps, request }) => {
    const allower = body.is_allowed ? caller : null;
    const next = await deps.oauth.answer(callOf(request), params.uid, allower);
    return reply(200, { redirect: next });
  },
});

const page = defineRoute({
  method: "GET",
  path: "/v1/oauth/consent/{uid}",
  summary: "The consent page",
  tag,
  auth: "public",
  source,
  rare: { isPopup: true },
  params: s.ConsentParams,
  responses: { 200: html },
  errors: [],
  handler: ({ request }) =>
    bytesReply(200, "text/html; charset=utf-8", consentPage(request.headers["accept-language"]), [
      ["Content-Security-Policy", pagePolicy],
      ["Referrer-Policy", "no-referrer"],
      ["Cache-Control", "no-store"],
      ["Vary", "Accept-Language"],
    ]),
});

export const oauthRoutes: Route<OAuthDeps>[] = [
  authorize,
  authorizeByForm,
  resume,
  token,
  revoke,
  readUserinfo,
  postUserinfo,
  ...documentRoutes,
  page,
  question,
  answer,
];
