import { preferredLocale } from "../../platform/text/locales.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { clientInfoOf } from "../sessions/sessions.ts";
import { sessionReply } from "../sessions/replies.ts";
import { newDevice } from "../verification/device.ts";
import { closeOwnAccount } from "./closing.ts";
import { passwordRoutes } from "./password-routes.ts";
import { phoneRoutes } from "./phone-routes.ts";
import { proofRoutes } from "./proof-routes.ts";
import { changeChannels, changeProfile } from "./profile.ts";
import { SessionBody } from "../sessions/schemas.ts";
import * as s from "./schemas.ts";
import { checkAvailability, readOwnUser, register } from "./service.ts";
import type { AccountDeps } from "./deps.ts";

const defineRoute = routesWith<AccountDeps>();
const tag = "Users";

const create = defineRoute({
  method: "POST",
  path: "/v1/users",
  summary: "Create a registered account and sign it in",
  tag,
  auth: "public",
  source: "document 1, Users; USR-01, USR-03, GW-03",
  setsCookie: "by-page",
  rateLimit: { max: 10, window: 60 },
  body: s.RegisterBody,
  responses: { 201: SessionBody },
  errors: ["user:email_taken", "user:username_taken", "server:unavailable"],
  handler: async ({ body, deps, request }) => {
    const { email, username, password } = body;
    const locale = preferredLocale(request.headers["accept-language"]);
    const { deviceHash, headers } = newDevice();
    const input = { email, username, password, displayName: body.display_name ?? null, locale };
    const client = await clientInfoOf(deps, request);
    return sessionReply(201, await register(deps, { ...input, deviceHash }, client), headers);
  },
});

const check = defineRoute({
  method: "POST",
  path: "/v1/users/check",
  summary: "Check whether an address or a username is available",
  tag,
  auth: "public",
  source: "document 1, Users; USR-04, HTTP-05",
  rateLimit: { max: 20, window: 60 },
  body: s.CheckBody,
  invalid: { status: 400, code: "request:no_fields" },
  responses: { 200: s.CheckResult },
  errors: ["request:no_fields"],
  handler: async ({ body, deps }) => {
    const asked = { email: body.email ?? null, username: body.username ?? null };
    return reply(200, await checkAvailability(deps, asked));
  },
});

const me = defineRoute({
  method: "GET",
  path: "/v1/users/@me",
  summary: "Read the caller's own account",
  tag,
  auth: "player",
  source: "document 1, Users; TOK-10",
  responses: { 200: s.UserBody },
  errors: ["auth:not_registered", "user:not_found"],
  handler: async ({ caller, deps }) => reply(200, s.presentUser(await readOwnUser(deps, caller))),
});

const change = defineRoute({
  method: "PATCH",
  path: "/v1/users/@me",
  summary:
    "Change the caller's own profile; a new address needs a sign-in or a proof of the last ten minutes",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-02, USR-03",
  setsCookie: "by-page",
  body: s.ProfileBody,
  responses: { 200: s.UserBody },
  errors: [
    "request:no_fields",
    "auth:proof_required",
    "user:email_taken",
    "user:username_taken",
    "user:not_found",
    "user:too_many_addresses",
    "server:unavailable",
  ],
  handler: async ({ body, caller, deps, request }) => {
    const { deviceHash, headers } = newDevice();
    const { userAgent } = await clientInfoOf(deps, request);
    const origin = { userAgent, ip: request.ip, deviceHash };
    const user = s.presentUser(await changeProfile(deps, caller, body, origin));
    return reply(200, user, typeof body.email === "string" ? headers : []);
  },
});

const close = defineRoute({
  method: "DELETE",
  path: "/v1/users/@me",
  summary: "Close the caller's own account",
  tag,
  auth: "registered",
  source: "document 1, Users, Player identity; USR-09, TOK-11",
  responses: { 200: null },
  errors: ["user:not_found"],
  handler: async ({ caller, deps }) => {
    await closeOwnAccount(deps, caller);
    return reply(200);
  },
});

const communication = defineRoute({
  method: "PATCH",
  path: "/v1/users/@me/communication",
  summary: "Replace the notification opt-ins of the caller",
  tag,
  auth: "registered",
  source: "document 1, Users; USR-07",
  body: s.ChannelsBody,
  responses: { 200: null },
  errors: ["user:not_found"],
  handler: async ({ body, caller, deps }) => {
    await changeChannels(deps, caller, body.channels);
    return reply(200);
  },
});

export const usersRoutes: Route<AccountDeps>[] = [
  create,
  check,
  me,
  change,
  close,
  communication,
  ...passwordRoutes,
  ...phoneRoutes,
  ...proofRoutes,
];
