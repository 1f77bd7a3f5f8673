import Type from "typebox";
import { AppError } from "../../platform/errors.ts";
import {
  routesWith,
  redirect,
  redirectReply,
  reply,
  type Route,
  type Headers,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { isPreview } from "../../http/pipeline/preview.ts";
import { setRefreshCookie } from "./cookies.ts";
import { isPassport, issuePassport, passportSeconds, redeemPassport } from "./passports.ts";
import { allowedRedirect } from "./redirects.ts";
import { clientInfoOf } from "./sessions.ts";
import type { SessionDeps } from "./deps.ts";
import { visitPage, visitPages } from "./visit-page.ts";

const defineRoute = routesWith<SessionDeps>();

const passport = defineRoute({
  method: "GET",
  path: "/v1/tokens/passport",
  summary: "Get a token that signs the caller in on another domain",
  tag: "Tokens",
  auth: "player",
  source: "document 1, Gateway; TOK-03, GW-09",
  responses: { 200: Type.Object({ passport: Type.String(), expires_in: Type.Integer() }) },
  errors: [],
  handler: ({ caller, deps }) =>
    reply(200, { passport: issuePassport(deps, caller), expires_in: passportSeconds }, [
      ["Cache-Control", "no-store"],
    ]),
});

const customs = defineRoute({
  method: "GET",
  path: "/v1/gateway/customs",
  summary: "Exchange a passport for a session and follow the redirect",
  tag: "Gateway",
  auth: "public",
  source: "document 1, Gateway; GW-08, GW-09",
  setsCookie: "by-visit",
  query: Type.Object({
    passport: Type.Optional(Type.String()),
    redirect: Type.Optional(Type.String()),
  }),
  lenientQuery: true,
  responses: { 302: redirect, ...visitPages },
  errors: ["sso:redirect_invalid", "sso:passport_invalid"],
  handler: ({ query, deps, request }) =>
    enter(deps, query, request).catch((error: unknown) => visitPage(deps, request, error)),
});

async function enter(
  deps: SessionDeps,
  query: { passport?: string; redirect?: string },
  request: RequestInfo,
) {
  const location = await allowedRedirect(deps, query.redirect).catch(unreferred);
  // Link scanners and prefetching browsers must not consume the passport.
  if (isPreview(request)) {
    // A cached response would open no session at the real visit.
    if (request.method === "HEAD" && isPassport(deps, query.passport))
      return redirectReply(location, quiet);
    throw new AppError("sso:passport_invalid", { headers: quiet });
  }
  const client = await clientInfoOf(deps, request);
  const session = await redeemPassport(deps, query.passport, client).catch(unreferred);
  const cookie = setRefreshCookie(session.body.refresh_token, session.cookieSeconds);
  return redirectReply(location, [...quiet, ...cookie]);
}

/** The address has the passport: it must not leak by Referer or caches (GW-09). */
const quiet: Headers = [
  ["Cache-Control", "no-store"],
  ["Referrer-Policy", "no-referrer"],
];

function unreferred(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw new AppError(error.code, { headers: [["Referrer-Policy", "no-referrer"]], cause: error });
}

export const ssoRoutes: Route<SessionDeps>[] = [passport, customs];
