import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest verification token of an account; an older one is void with it (S4, USR-06). */
export const EmailVerificationSchema = defineEntity({
  name: "EmailVerification",
  tableName: "email_verifications",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** SHA-256 of the token's `jti`. */
    tokenHash: p.string().length(64).hidden(),
    /** The address it verifies; void when the account has another one meanwhile. */
    emailKey: p.string().length(254),
    expiresAt: p.datetime().index("email_verifications_expires_at_index"),
  },
});

export type EmailVerification = InferEntity<typeof EmailVerificationSchema>;
