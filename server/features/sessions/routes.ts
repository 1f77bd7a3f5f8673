import { timestamp } from "../../platform/time/clock.ts";
import { preferredLocale } from "../../platform/text/locales.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { newDevice } from "../verification/device.ts";
import { clearRefreshCookie, refreshCookie } from "./cookies.ts";
import { credentialRoutes } from "./credential-routes.ts";
import { enterAsGuest, upgrade } from "./guests.ts";
import { sessionReply } from "./replies.ts";
import * as s from "./schemas.ts";
import { familyOf, login, logout, refresh } from "./service.ts";
import { sessionRoutes } from "./session-routes.ts";
import { clientInfoOf } from "./sessions.ts";
import { ssoRoutes } from "./sso-routes.ts";
import type { SessionDeps } from "./deps.ts";

const defineRoute = routesWith<SessionDeps>();
const tag = "Gateway";

const guest = defineRoute({
  method: "POST",
  path: "/v1/gateway/guest",
  summary: "Create a guest player, or resume the guest of a reclaim token",
  tag,
  auth: "public",
  source: "document 1, Gateway; GW-06, TOK-12",
  setsCookie: "by-page",
  rateLimit: { max: 60, window: 60 },
  heldSecret: ({ body, deps }) =>
    deps.tokens.verify("reclaim", body.reclaimToken ?? "")?.sub ?? null,
  body: s.GuestBody,
  responses: { 200: s.SessionBody },
  errors: ["guest:username_taken", "auth:token_invalid", "guest:username_unavailable"],
  handler: async ({ body, deps, request }) => {
    const input = { username: body.username ?? null, reclaimToken: body.reclaimToken ?? null };
    return sessionReply(200, await enterAsGuest(deps, input, await clientInfoOf(deps, request)));
  },
});

const loginRoute = defineRoute({
  method: "POST",
  path: "/v1/gateway/login",
  summary: "Sign in with email or username and password",
  tag,
  auth: "public",
  source: "document 1, Gateway; GW-01, GW-02, GW-03",
  setsCookie: "by-page",
  rateLimit: { max: (config) => config.RATE_LIMIT_LOGIN, window: 60 },
  body: s.LoginBody,
  responses: { 200: s.SessionBody },
  errors: ["auth:invalid", "auth:locked", "server:unavailable"],
  handler: async ({ body, deps, request }) =>
    sessionReply(200, await login(deps, body, await clientInfoOf(deps, request))),
});

const refreshRoute = defineRoute({
  method: "POST",
  path: "/v1/gateway/refresh",
  summary: "Exchange the refresh token for new tokens",
  tag,
  auth: "public",
  source: "document 1, Gateway; TOK-04, TOK-05, TOK-06",
  setsCookie: "by-page",
  rare: { cookieAuthority: refreshCookie },
  heldSecret: ({ body, deps, request }) =>
    familyOf(deps, request.cookies[refreshCookie] ?? body.refresh_token ?? undefined),
  body: s.RefreshBody,
  responses: { 200: s.SessionBody },
  errors: ["auth:refresh_invalid", "auth:refresh_reused", "request:origin_forbidden"],
  handler: async ({ body, deps, request }) => {
    const token = request.cookies[refreshCookie] ?? body.refresh_token ?? null;
    return sessionReply(200, await refresh(deps, token));
  },
});

const logoutRoute = defineRoute({
  method: "POST",
  path: "/v1/gateway/logout",
  summary: "Clear the refresh cookie and end its session",
  tag,
  auth: "public",
  source: "document 1, Gateway; TOK-07",
  setsCookie: "by-page",
  rare: { cookieAuthority: refreshCookie },
  heldSecret: ({ deps, request }) => familyOf(deps, request.cookies[refreshCookie]),
  responses: { 200: null },
  errors: ["request:origin_forbidden"],
  handler: async ({ deps, request }) => {
    await logout(deps, request.cookies[refreshCookie]);
    return reply(200, undefined, clearRefreshCookie());
  },
});

const upgradeRoute = defineRoute({
  method: "POST",
  path: "/v1/gateway/upgrade",
  summary: "Upgrade the guest to a registered account with the same id",
  tag,
  auth: "guest",
  source: "document 1, Gateway; GW-07, TOK-10, TOK-12",
  setsCookie: "by-page",
  rateLimit: { max: 10, window: 60 },
  body: s.UpgradeBody,
  responses: { 200: s.SessionBody },
  errors: ["user:email_taken", "server:unavailable"],
  handler: async ({ body, caller, deps, request }) => {
    const { deviceHash, headers } = newDevice();
    const input = {
      email: body.email,
      password: body.password,
      displayName: body.display_name ?? null,
      locale: preferredLocale(request.headers["accept-language"]),
      deviceHash,
    };
    const client = await clientInfoOf(deps, request);
    return sessionReply(200, await upgrade(deps, caller, input, client), headers);
  },
});

const validate = defineRoute({
  method: "GET",
  path: "/v1/tokens/validate",
  summary: "Read the claims of the presented access token",
  tag: "Tokens",
  auth: "player",
  source: "document 1, Gateway; TOK-13",
  responses: { 200: s.ValidateBody },
  errors: [],
  handler: ({ caller }) => {
    const { playerId: player_id, roles, realm } = caller;
    const expires_at = timestamp(caller.expiresAt * 1000);
    return reply(200, { valid: true as const, player_id, roles, realm, expires_at });
  },
});

export const gatewayRoutes: Route<SessionDeps>[] = [
  guest,
  loginRoute,
  refreshRoute,
  logoutRoute,
  upgradeRoute,
  validate,
  ...credentialRoutes,
  ...ssoRoutes,
  ...sessionRoutes,
];
