import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A rendered message, stored for the development inbox only. */
export interface MessageContent {
  subject: string;
  text: string;
  html: string | null;
  /** The 6-digit code in the message, if any. */
  code: string | null;
  /** The links in the message. */
  links: string[];
}

/** A mail or text message, waiting or done; jobs of queue `mail` refer to a row (USR-10). */
export const MessageSchema = defineEntity({
  name: "Message",
  tableName: "messages",
  indexes: [
    {
      // The clean-up reads only waiting messages, a small part of the table.
      name: "messages_waiting_index",
      expression:
        "create index messages_waiting_index on messages (created_at) where status in ('queued', 'sending')",
    },
    {
      name: "messages_request_index",
      expression:
        "create index messages_request_index on messages (request_id) where request_id is not null",
    },
    { name: "messages_recipient_index", properties: ["recipient", "createdAt"] },
    {
      name: "messages_sealed_index",
      expression:
        "create index messages_sealed_index on messages (expires_at) where sealed is not null",
    },
    {
      // Serves the inbox of a development service.
      name: "messages_content_index",
      expression: "create index messages_content_index on messages (id) where content is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    kind: p.enum(["mail", "sms"]),
    template: p.string().length(64),
    locale: p.string().length(35),
    /** Slug of the realm whose branding it uses; null for the default. */
    realm: p.string().length(63).nullable(),
    /** Address or E.164 number. */
    recipient: p.string().length(320),
    /** Template values, sealed (server/features/delivery/domain/seal.ts); erased when no longer needed. */
    sealed: p.text().nullable().hidden(),
    status: p.enum(["queued", "sending", "sent", "failed", "expired"]).default("queued"),
    attempts: p.integer().default(0),
    /** Start of the running attempt; another may begin once this is long past. */
    claimedAt: p.datetime().nullable(),
    /** Contains neither recipient nor content. */
    lastError: p.string().length(255).nullable(),
    /** Set only by a driver that delivers to the development inbox. */
    content: p.json<MessageContent>().nullable(),
    createdAt: p.datetime().index("messages_created_at_index"),
    sentAt: p.datetime().nullable(),
    /** After this time the message is no longer sent. */
    expiresAt: p.datetime(),
    /** What it goes back to (OPS-30); null for messages of earlier versions and of periodic work. */
    requestId: p.string().length(64).nullable(),
    playerId: p.integer().nullable(),
    /** Kind and code. */
    room: p.string().length(64).nullable(),
  },
});

export type Message = InferEntity<typeof MessageSchema>;
