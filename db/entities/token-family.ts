import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** One login and all refresh tokens that came of it (TOK-04, TOK-05). */
export const TokenFamilySchema = defineEntity({
  name: "TokenFamily",
  tableName: "token_families",
  indexes: [
    {
      // Processes read which access tokens to refuse.
      name: "token_families_reason_index",
      expression:
        "create index token_families_reason_index on token_families (revoked_at) where revoked_reason is not null",
    },
  ],
  properties: {
    id: p.string().length(22).primary(),
    player: () => p.manyToOne(PlayerSchema).ref().index("token_families_player_index"),
    /** Opened for a guest: lifetimes are longer, an upgrade ends it. */
    isGuest: p.boolean(),
    realm: p.string().length(63),
    /** The generation whose token rotates; the one before is accepted for a short grace. */
    generation: p.integer().default(0),
    rotatedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw("now()"),
    lastUsedAt: p.datetime().defaultRaw("now()"),
    /** No token of the family outlives this. */
    endsAt: p.datetime().index("token_families_ends_at_index"),
    revokedAt: p.datetime().nullable(),
    /** Why, when its access tokens are to be refused too (S44); null otherwise. */
    revokedReason: p.string().length(32).nullable(),
    /** How it was opened; null before this was recorded. */
    method: p.string().length(16).nullable(),
    /**
     * When its player last showed credentials: a passport passes the time of its own session on. Null
     * where nobody did, as for a guest.
     */
    authenticatedAt: p.datetime().nullable(),
    /** Of the sequence `sign_in_numbers`: the order in which credentials were shown, whatever the clocks of hosts say. */
    signInNumber: p.bigint("number").nullable(),
    /** Session that a passport, a link or a consent made this one from. */
    parent: p.string().length(22).nullable(),
    userAgent: p.string().length(255).nullable(),
  },
});

export type TokenFamily = InferEntity<typeof TokenFamilySchema>;
