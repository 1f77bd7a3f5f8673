import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A message of the contact form (document 1, System). */
export const ContactMessageSchema = defineEntity({
  name: "ContactMessage",
  tableName: "contact_messages",
  uniques: [
    {
      // Most messages have no reference and need no index entry.
      name: "contact_messages_ref_unique",
      expression:
        "create unique index contact_messages_ref_unique on contact_messages (ref) where ref is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    fullname: p.string().length(255),
    email: p.string().length(320),
    /** How the sender heard of the service. */
    discovery: p.string().length(64),
    subject: p.string().length(255),
    message: p.text(),
    /** Idempotency reference of the request (HTTP-15). */
    ref: p.string().length(64).nullable(),
    createdAt: p.datetime().index("contact_messages_created_at_index"),
  },
});

export type ContactMessage = InferEntity<typeof ContactMessageSchema>;
