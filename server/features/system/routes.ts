import { AppError } from "../../platform/errors.ts";
import { preferredLocale } from "../../platform/text/locales.ts";
import { permissionVary } from "../../http/auth/cors.ts";
import { nameOf } from "../../http/pipeline/idempotent-input.ts";
import { routesWith, redirect, reply, type Route } from "../../http/pipeline/route.ts";
import { isPreview } from "../../http/pipeline/preview.ts";
import { linkOf, linkPageRoutes, statusReply, verificationOf } from "../verification/link-pages.ts";
import { restorePageRoutes } from "../verification/restore-page.ts";
import { receiveContact, receiveFeedback } from "./leads.ts";
import { resolveRealm } from "../realms/service.ts";
import { subscribe, unsubscribe, unsubscriberOf, verifyAddress } from "./mailing-list.ts";
import * as s from "./schemas.ts";
import { readHealth } from "./service.ts";
import type { SystemDeps } from "./deps.ts";

const defineRoute = routesWith<SystemDeps>();
const tag = "System";
const formLimit = { max: 5, window: 60 };

const healthCheck = defineRoute({
  method: "GET",
  path: "/v1/health-check",
  summary: "Check the health of the service and its stores",
  tag,
  auth: "public",
  source: "document 1, System; SYS-01, HTTP-13",
  responses: { 200: s.HealthBody },
  errors: ["system:database_unreachable"],
  handler: async ({ deps }) =>
    // Not the record's `cache`: that adds an ETag, and this body changes every second.
    reply(200, await readHealth(deps), [
      ["Cache-Control", "public, max-age=30"],
      ["Vary", permissionVary],
    ]),
});

const subscribeRoute = defineRoute({
  method: "POST",
  path: "/v1/subscribe",
  summary: "Subscribe to the mailing list; the address receives a confirmation mail",
  tag,
  auth: "public",
  source: "document 1, System; SYS-04",
  rateLimit: formLimit,
  body: s.SubscribeBody,
  responses: { 200: null },
  errors: [],
  handler: async ({ body, deps, request }) => {
    const locale = preferredLocale(request.headers["accept-language"]);
    const { "x-realm": named, origin } = request.headers;
    const realm = await resolveRealm(deps, { named, origin });
    await subscribe(deps, { email: body.email, channels: body.channels ?? null, locale, realm });
    return reply(200);
  },
});

const verify = defineRoute({
  method: "GET",
  path: "/v1/verify",
  summary: "Verify an address at once; redirects to the status page of the marketing site",
  tag,
  auth: "public",
  source: "document 1, System; SYS-02, USR-06",
  heldSecret: ({ query, deps }) => verificationOf(deps, query),
  query: s.LinkQuery,
  lenientQuery: true,
  responses: { 302: redirect },
  errors: [],
  handler: async ({ query, deps, request }) => {
    const link = { ...linkOf(query), isTrial: isPreview(request) };
    return statusReply(deps, "verify", await verifyAddress(deps, link));
  },
});

const unsubscribeRoute = defineRoute({
  method: "GET",
  path: "/v1/unsubscribe",
  summary: "Leave the mailing list at once; redirects to the status page of the marketing site",
  tag,
  auth: "public",
  source: "document 1, System; SYS-02",
  heldSecret: ({ query, deps }) => unsubscriberOf(deps, linkOf(query)),
  query: s.LinkQuery,
  lenientQuery: true,
  responses: { 302: redirect },
  errors: [],
  handler: async ({ query, deps, request }) => {
    const link = { ...linkOf(query), isTrial: isPreview(request) };
    return statusReply(deps, "unsubscribe", await unsubscribe(deps, link));
  },
});

const oneClick = defineRoute({
  method: "POST",
  path: "/v1/unsubscribe",
  summary: "Leave the mailing list without a page (RFC 8058)",
  tag,
  auth: "public",
  source: "SYS-03",
  heldSecret: ({ query, deps }) => unsubscriberOf(deps, linkOf(query)),
  query: s.LinkQuery,
  lenientQuery: true,
  responses: { 200: null },
  errors: ["request:missing_parameter", "auth:token_invalid"],
  handler: async ({ query, deps }) => {
    const outcome = await unsubscribe(deps, { ...linkOf(query), isTrial: false });
    if (outcome === "missing_arguments") throw new AppError("request:missing_parameter");
    if (outcome === "invalid_arguments") throw new AppError("auth:token_invalid");
    // Unsubscribing an unknown address succeeds.
    return reply(200);
  },
});

const contact = defineRoute({
  method: "POST",
  path: "/v1/leads/contact",
  summary: "Send a message to the operators",
  tag,
  auth: "public",
  source: "document 1, System; SYS-05, HTTP-15",
  rateLimit: formLimit,
  idempotent: true,
  body: s.ContactBody,
  responses: { 201: null },
  errors: [],
  handler: async ({ body, deps, memoizeForKey }) => {
    await receiveContact(deps, body, await nameOf(memoizeForKey));
    return reply(201);
  },
});

const feedback = defineRoute({
  method: "POST",
  path: "/v1/leads/feedback",
  summary: "Send feedback from within a game",
  tag,
  auth: "optional",
  source: "document 1, System; SYS-05, HTTP-15",
  rateLimit: formLimit,
  idempotent: true,
  body: s.FeedbackBody,
  responses: { 201: null },
  errors: [],
  handler: async ({ body, caller, deps, memoizeForKey }) => {
    const { kind, source, message, email = null, route = null, context = null } = body;
    const ref = await nameOf(memoizeForKey);
    await receiveFeedback(deps, caller, { kind, source, message, email, route, context, ref });
    return reply(201);
  },
});

export const systemRoutes: Route<SystemDeps>[] = [
  healthCheck,
  subscribeRoute,
  verify,
  unsubscribeRoute,
  oneClick,
  contact,
  feedback,
  ...linkPageRoutes,
  ...restorePageRoutes,
];
