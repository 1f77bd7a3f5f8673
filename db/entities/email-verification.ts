import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest verification token of an account; it voids older ones (S4, USR-06). */
export const EmailVerificationSchema = defineEntity({
  name: "EmailVerification",
  tableName: "email_verifications",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** SHA-256 of the token's `jti`. */
    tokenHash: p.string().length(64).hidden(),
    /** The address it verifies; the token is void once the account has another address. */
    emailKey: p.string().length(254),
    expiresAt: p.datetime().index("email_verifications_expires_at_index"),
  },
});

export type EmailVerification = InferEntity<typeof EmailVerificationSchema>;
