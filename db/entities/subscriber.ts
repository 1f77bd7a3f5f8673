import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** An address on the mailing list; nothing is sent to it before it is verified (SYS-02, SYS-04). */
export const SubscriberSchema = defineEntity({
  name: "Subscriber",
  tableName: "subscribers",
  properties: {
    id: p.integer().primary(),
    /** As entered. */
    email: p.string().length(320),
    /** Normal form of the address (GW-03). */
    emailKey: p.string().length(254).unique("subscribers_email_key_unique"),
    /** Of the form `medium:topic` (USR-07). */
    channels: p.array().columnType("text[]").defaultRaw("'{}'"),
    locale: p.string().length(35).default("en"),
    /** Slug of the realm whose page was used; null for the default one. */
    realm: p.string().length(63).nullable(),
    /** SHA-256 of the token that verifies; null once it was used. */
    verifyHash: p.string().length(64).nullable().hidden(),
    verifyExpiresAt: p.datetime().nullable(),
    verifiedAt: p.datetime().nullable(),
    unsubscribedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime().index("subscribers_updated_at_index"),
  },
});

export type Subscriber = InferEntity<typeof SubscriberSchema>;
