import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A rendered message, kept for the development inbox only. */
export interface MessageContent {
  subject: string;
  text: string;
  html: string | null;
  /** The 6-digit code in it, when there is one. */
  code: string | null;
  /** The addresses in it. */
  links: string[];
}

/** One mail or text message on its way or done; jobs of queue `mail` name a row (USR-10). */
export const MessageSchema = defineEntity({
  name: "Message",
  tableName: "messages",
  indexes: [
    {
      // The clean-up looks for what waits; what is done is most of the table.
      name: "messages_waiting_index",
      expression:
        "create index messages_waiting_index on messages (created_at) where status in ('queued', 'sending')",
    },
    { name: "messages_recipient_index", properties: ["recipient", "createdAt"] },
    {
      name: "messages_sealed_index",
      expression:
        "create index messages_sealed_index on messages (expires_at) where sealed is not null",
    },
    {
      // The inbox of a development service.
      name: "messages_content_index",
      expression: "create index messages_content_index on messages (id) where content is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    kind: p.enum(["mail", "sms"]),
    template: p.string().length(64),
    locale: p.string().length(35),
    /** Slug of the realm whose look it has; null for the default one. */
    realm: p.string().length(63).nullable(),
    /** Address or E.164 number. */
    recipient: p.string().length(320),
    /** What the template shows, sealed (server/features/delivery/domain/seal.ts); gone once it is of no more use. */
    sealed: p.text().nullable().hidden(),
    status: p.enum(["queued", "sending", "sent", "failed", "expired"]).default("queued"),
    attempts: p.integer().default(0),
    /** Start of the attempt that runs; another may begin when it is long past. */
    claimedAt: p.datetime().nullable(),
    /** Says nothing about the recipient or the content. */
    lastError: p.string().length(255).nullable(),
    /** Only with a driver that delivers to the development inbox. */
    content: p.json<MessageContent>().nullable(),
    createdAt: p.datetime().index("messages_created_at_index"),
    sentAt: p.datetime().nullable(),
    /** Later it would be of no use to the recipient. */
    expiresAt: p.datetime(),
  },
});

export type Message = InferEntity<typeof MessageSchema>;
