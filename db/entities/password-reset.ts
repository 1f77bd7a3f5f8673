import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest reset token of an account; it voids older ones (GW-10, S4). */
export const PasswordResetSchema = defineEntity({
  name: "PasswordReset",
  tableName: "password_resets",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** SHA-256 of the token's `jti`. */
    tokenHash: p.string().length(64).hidden(),
    /** SHA-256 of the current password hash and the address: a change of either voids the token (TOK-03). */
    passwordMark: p.string().length(64).hidden(),
    expiresAt: p.datetime().index("password_resets_expires_at_index"),
  },
});

export type PasswordReset = InferEntity<typeof PasswordResetSchema>;
