import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The newest reset token of an account; an older one is void with it (GW-10, S4). */
export const PasswordResetSchema = defineEntity({
  name: "PasswordReset",
  tableName: "password_resets",
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** SHA-256 of the token's `jti`. */
    tokenHash: p.string().length(64).hidden(),
    /** SHA-256 of the password hash it replaces and of the address: a change of either voids it (TOK-03). */
    passwordMark: p.string().length(64).hidden(),
    expiresAt: p.datetime().index("password_resets_expires_at_index"),
  },
});

export type PasswordReset = InferEntity<typeof PasswordResetSchema>;
