import Type from "typebox";
import { findOutboxHtml, listOutbox } from "../../../db/queries/delivery/outbox.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { isLocalPeer } from "../../platform/security/local-peer.ts";
import { maxOutboxMessages, presentMessage } from "./domain/outbox.ts";
import type { InboxDeps } from "./deps.ts";
import {
  bytesReply,
  routesWith,
  media,
  reply,
  type Route,
  type RequestInfo,
} from "../../http/pipeline/route.ts";
import { Id } from "../../platform/schemas.ts";

const defineRoute = routesWith<InboxDeps>();
const tag = "Development";
const OptionalText = Type.Unsafe<string | null>({ type: ["string", "null"] });

const MessageBody = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum(["mail", "sms"]),
  template: Type.String(),
  to: Type.String(),
  status: Type.String(),
  attempts: Type.Integer(),
  last_error: OptionalText,
  subject: OptionalText,
  text: OptionalText,
  html: OptionalText,
  code: OptionalText,
  links: Type.Array(Type.String()),
  created_at: Type.String({ format: "date-time" }),
});

/**
 * The inbox has codes and links of all players, so it does not exist in production, and in development only for this
 * machine: a development service may have remote players (S29).
 */
function requireDeveloper({ config }: InboxDeps, { ip, headers }: RequestInfo): void {
  if (config.APP_ENV === "production" || !isLocalPeer(ip, headers))
    throw new AppError("route:not_found");
}

const list = defineRoute({
  method: "GET",
  path: "/inbox/messages",
  summary: "Mails and text messages, newest first; not in production, and for this machine only",
  tag,
  auth: "public",
  source: "BOOT-05",
  query: Type.Object({
    kind: Type.Optional(Type.Enum(["mail", "sms"])),
    to: Type.Optional(Type.String({ maxLength: 320, plus: true })),
    limit: Type.Integer({ minimum: 1, maximum: maxOutboxMessages, default: 50 }),
  }),
  responses: { 200: Type.Object({ messages: Type.Array(MessageBody) }) },
  errors: ["route:not_found"],
  handler: async ({ query, deps, request }) => {
    requireDeveloper(deps, request);
    const { kind = null, to = null, limit } = query;
    const address = to === null ? null : (normalizeEmail(to) ?? to);
    const messages = await listOutbox(deps.em, { kind, to: address, limit });
    return reply(200, { messages: messages.map((message) => presentMessage(message, true)) });
  },
});

/** The mail may be framed by our page, in a sandbox. */
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'";

const preview = defineRoute({
  method: "GET",
  path: "/inbox/messages/{id}/html",
  summary: "A mail as its reader sees it",
  tag,
  auth: "public",
  source: "BOOT-05",
  params: Type.Object({ id: Id }),
  responses: { 200: media("text/html; charset=utf-8") },
  errors: ["route:not_found"],
  handler: async ({ params, deps, request }) => {
    requireDeveloper(deps, request);
    const html = await findOutboxHtml(deps.em, params.id);
    if (html === null) throw new AppError("route:not_found");
    return bytesReply(200, "text/html; charset=utf-8", html, [
      ["Content-Security-Policy", mailPolicy],
      ["Referrer-Policy", "no-referrer"],
    ]);
  },
});

export const inboxRoutes: Route<InboxDeps>[] = [list, preview];
