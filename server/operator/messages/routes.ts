import Type from "typebox";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { Timestamp } from "../../platform/schemas.ts";
import {
  maxOutboxMessages,
  type MessageFilter,
  type OperatorMessage,
} from "../../features/delivery/domain/outbox.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { orNull } from "../schemas.ts";

export interface MessagesDeps {
  outbox(filter: MessageFilter): Promise<OperatorMessage[]>;
}

const defineRoute = routesWith<MessagesDeps>();
const tag = "Operator";

/** An address, a number, or a part of one that cannot be either. */
const maxRecipient = 320;

const MessageBody = Type.Object({
  id: Type.Integer(),
  kind: Type.Union([Type.Literal("mail"), Type.Literal("sms")]),
  template: Type.String(),
  to: Type.String(),
  status: Type.String(),
  attempts: Type.Integer(),
  last_error: orNull(Type.String()),
  subject: orNull(Type.String()),
  text: orNull(Type.String()),
  html: orNull(Type.String()),
  code: orNull(Type.String()),
  links: Type.Array(Type.String()),
  created_at: Timestamp,
  request_id: orNull(Type.String()),
});

/** Mails and text messages (OPS-04, BOOT-05). */
export const messageRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/outbox",
    tag,
    summary: "Messages, newest first; with their content outside production only",
    auth: "viewer",
    source: "OPS-04, BOOT-05",
    query: Type.Object({
      kind: Type.Optional(Type.Union([Type.Literal("mail"), Type.Literal("sms")])),
      to: Type.Optional(Type.String({ maxLength: maxRecipient, plus: true })),
      limit: Type.Integer({ minimum: 1, maximum: maxOutboxMessages, default: maxOutboxMessages }),
    }),
    responses: { 200: Type.Object({ messages: Type.Array(MessageBody) }) },
    errors: [],
    handler: async ({ deps, query: { kind, to, limit } }) => {
      const recipient = to === undefined ? null : (normalizeEmail(to) ?? to);
      const messages = await deps.outbox({ kind: kind ?? null, to: recipient, limit });
      return reply(200, { messages });
    },
  }),
];
