import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** A signed token that has been used, stored until it would have expired (GW-09). */
export const UsedTokenSchema = defineEntity({
  name: "UsedToken",
  tableName: "used_tokens",
  properties: {
    jti: p.string().length(64).primary(),
    expiresAt: p.datetime().index("used_tokens_expires_at_index"),
  },
});

export type UsedToken = InferEntity<typeof UsedTokenSchema>;
