import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A code sent to a number to be verified; only the newest code of an account is valid (USR-08). */
export const PhoneCodeSchema = defineEntity({
  name: "PhoneCode",
  tableName: "phone_codes",
  indexes: [{ name: "phone_codes_player_index", properties: ["playerId", "expiresAt"] }],
  properties: {
    id: p.integer().primary(),
    playerId: p.integer(),
    /** E.164. */
    phone: p.string().length(16),
    /** HMAC-SHA-256 under a key derived from APP_SECRET. */
    codeHash: p.string().length(64).hidden(),
    tries: p.integer().default(0),
    /** Used or void; the row still counts as a sent code. */
    isSpent: p.boolean().default(false),
    expiresAt: p.datetime().index("phone_codes_expires_at_index"),
  },
});

export type PhoneCode = InferEntity<typeof PhoneCodeSchema>;
