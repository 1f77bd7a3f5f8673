import { readAsset } from "../../features/pages/assets.ts";
import { AppError } from "../../platform/errors.ts";
import { isPreview } from "../../http/pipeline/preview.ts";
import { readForm } from "../../http/pipeline/body.ts";
import {
  bytesReply,
  media,
  redirect,
  routesWith,
  seeOtherReply,
} from "../../http/pipeline/route.ts";
import Type from "typebox";
import { assetPath } from "../layout.ts";
import {
  pendingCookie,
  pendingOf,
  refuseRepeated,
  sessionCookie,
  sessionOf,
} from "./authorizer.ts";
import { cookieSeconds } from "./ended-sessions.ts";
import type { Identities } from "./identity.ts";
import type { LoginFailures } from "./login-failures.ts";
import { oidcCallbackPath, oidcPath, signInSeconds, type OidcSignIn } from "./oidc.ts";
import { loginPage, signedInPage } from "./page.ts";

export interface SessionDeps {
  identities: Identities;
  loginFailures: LoginFailures;
  /** Null: operators sign in with tokens only. */
  oidc: OidcSignIn | null;
}

const defineRoute = routesWith<SessionDeps>();
const tag = "Operator";
const source = "OPS-02";
const page = media("text/html");
const htmlType = "text/html; charset=utf-8";

const login = defineRoute({
  method: "POST",
  path: "/operator/login",
  summary: "Log in with a token: sets a session cookie",
  tag,
  auth: "open",
  source,
  setsCookie: "by-page",
  urlForm: Type.Object({ token: Type.String() }),
  responses: { 303: redirect, 401: page },
  errors: [],
  handler: async ({ deps: { identities, loginFailures, oidc }, request }) => {
    const token = readForm(request.body).get("token")?.trim() ?? "";
    if ((await identities.fromToken(token)) === null) {
      const refusal = refuseRepeated(loginFailures, request.ip);
      if (refusal) throw refusal;
      return bytesReply(
        401,
        htmlType,
        loginPage("This token is not valid.", oidc?.label ?? null).markup,
      );
    }
    const cookie = sessionCookie(identities.cookieFor(token), cookieSeconds, request);
    return seeOtherReply("/operator", [["Set-Cookie", cookie]]);
  },
});

const logout = defineRoute({
  method: "POST",
  path: "/operator/logout",
  summary: "End the session of a browser, and all copies of its cookie",
  tag,
  auth: "open",
  source: "OPS-02, S48",
  setsCookie: "by-page",
  responses: { 303: redirect },
  errors: [],
  /** Fails if no store can record the end of the session: the cookie stays, so that the operator can retry. */
  handler: async ({ deps: { identities }, request }) => {
    const session = sessionOf(request);
    if (session !== undefined) await identities.end(session);
    return seeOtherReply("/operator/login", [["Set-Cookie", sessionCookie("", 0, request)]]);
  },
});

const oidcStart = defineRoute({
  method: "GET",
  path: oidcPath,
  summary: "To the OpenID provider, if there is one",
  tag,
  auth: "open",
  source: "OPS-83",
  setsCookie: "by-page",
  responses: { 303: redirect },
  errors: ["route:not_found", "server:unavailable"],
  handler: async ({ deps: { oidc }, request }) => {
    if (oidc === null) throw new AppError("route:not_found");
    const { url, kept } = await oidc.begin();
    return seeOtherReply(url, [["Set-Cookie", pendingCookie(kept, signInSeconds, request)]]);
  },
});

const oidcCallback = defineRoute({
  method: "GET",
  path: oidcCallbackPath,
  summary: "Back from the OpenID provider: sets a session cookie",
  tag,
  auth: "open",
  source: "OPS-83",
  setsCookie: "by-visit",
  query: Type.Object({}),
  lenientQuery: true,
  responses: { 200: page },
  errors: [
    "route:not_found",
    "oauth:state_invalid",
    "oauth:provider_denied",
    "operator:role_missing",
    "server:unavailable",
  ],
  handler: async ({ deps: { identities, oidc }, request }) => {
    if (oidc === null) throw new AppError("route:not_found");
    // A preview must not consume the code.
    const kept = isPreview(request) ? undefined : pendingOf(request);
    const person = await oidc.finish(request.query, kept);
    const session = sessionCookie(identities.cookieFor(person), cookieSeconds, request);
    return bytesReply(200, htmlType, signedInPage().markup, [
      ["Set-Cookie", session],
      ["Set-Cookie", pendingCookie("", 0, request)],
      ["Cache-Control", "no-store"],
    ]);
  },
});

/** Files of the browser code by their name below `assetPath`. */
const assets: Readonly<Record<string, string>> = {
  "base.css": "base.css",
  "operator.css": "operator/operator.css",
  "refresh.js": "operator/refresh.js",
  "review.js": "operator/review.js",
};

const asset = defineRoute({
  method: "GET",
  path: `${assetPath}/{name}`,
  summary: "A style or script of the pages",
  tag,
  auth: "open",
  source: "OPS-06",
  params: Type.Object({ name: Type.String() }),
  cache: "no-cache",
  responses: { 200: media("text/css") },
  errors: ["route:not_found"],
  handler: async ({ params: { name } }) => {
    const file = Object.hasOwn(assets, name) ? await readAsset(assets[name] ?? "") : null;
    if (file === null) throw new AppError("route:not_found");
    return bytesReply(200, file.type, file.bytes, [["ETag", file.etag]]);
  },
});

const start = defineRoute({
  method: "GET",
  path: "/",
  summary: "To the overview",
  tag,
  auth: "open",
  source,
  responses: { 303: redirect },
  errors: [],
  handler: () => seeOtherReply("/operator"),
});

const form = defineRoute({
  method: "GET",
  path: "/operator/login",
  summary: "The form for the token",
  tag,
  auth: "open",
  source,
  responses: { 200: page },
  errors: [],
  handler: ({ deps: { oidc } }) =>
    bytesReply(200, htmlType, loginPage(null, oidc?.label ?? null).markup),
});

/** Sign-in of browsers, and what their pages load; of no use for programs, so no document lists them. */
export const sessionRoutes = [start, form, login, logout, oidcStart, oidcCallback, asset];
