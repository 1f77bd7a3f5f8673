import Type, { type Static } from "typebox";
import { maxOutboxMessages, messageStates } from "../../features/delivery/domain/outbox.ts";
import { NextCursor, PageQuery } from "../../http/pipeline/pagination.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

/** An address, a number, or a part of one that cannot be either. */
const maxRecipient = 320;

export const MessageBody = Type.Object({
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
export type MessageBody = Static<typeof MessageBody>;

const { cursor } = PageQuery.properties;
const limit = Type.Integer({
  minimum: 1,
  maximum: maxOutboxMessages,
  default: maxOutboxMessages,
});

export const OutboxQuery = Type.Object({
  kind: Type.Optional(Type.Union([Type.Literal("mail"), Type.Literal("sms")])),
  status: Type.Optional(Type.Enum([...messageStates])),
  to: Type.Optional(Type.String({ maxLength: maxRecipient, plus: true })),
  ...{ limit, cursor },
});
export const OutboxBody = Type.Object({ messages: Type.Array(MessageBody), next: NextCursor });

export const PlayerMessagesQuery = Type.Object({ limit, cursor });
export const PlayerMessagesBody = Type.Object({
  player: Type.Object({ id: Id, name: Type.String() }),
  ...OutboxBody.properties,
});
