import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** An address on the mailing list; nothing is sent to it before it is verified (SYS-02, SYS-04). */
export const SubscriberSchema = defineEntity({
  name: "Subscriber",
  tableName: "subscribers",
  indexes: [
    {
      name: "subscribers_unverified_index",
      expression:
        "create index subscribers_unverified_index on subscribers (updated_at) where verified_at is null and unsubscribed_at is null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** The address as in `emailKey`. */
    email: p.string().length(320),
    /** Normal form of the address (GW-03). */
    emailKey: p.string().length(254).unique("subscribers_email_key_unique"),
    /** Of the form `medium:topic` (USR-07). */
    channels: p.array().columnType("text[]").defaultRaw("'{}'"),
    locale: p.string().length(35).default("en"),
    /** Slug of the realm whose page was used; null for the default. */
    realm: p.string().length(63).nullable(),
    /** SHA-256 of the verification token; null once used. */
    verifyHash: p.string().length(64).nullable().hidden(),
    verifyExpiresAt: p.datetime().nullable(),
    verifiedAt: p.datetime().nullable(),
    unsubscribedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

export type Subscriber = InferEntity<typeof SubscriberSchema>;
