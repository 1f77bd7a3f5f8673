import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A session: one login and all refresh tokens derived from it (TOK-04, TOK-05). */
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
    /** Created for a guest: lifetimes are longer, and an upgrade ends it. */
    isGuest: p.boolean(),
    realm: p.string().length(63),
    /** The generation whose token can be rotated; the previous one is accepted for a short grace period. */
    generation: p.integer().default(0),
    rotatedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw("now()"),
    lastUsedAt: p.datetime().defaultRaw("now()"),
    /** No token of the family outlives this. */
    endsAt: p.datetime().index("token_families_ends_at_index"),
    revokedAt: p.datetime().nullable(),
    /** Reason, if its access tokens must be refused as well (S44); otherwise null. */
    revokedReason: p.string().length(32).nullable(),
    /** How it was created; null for sessions from before this was recorded. */
    method: p.string().length(16).nullable(),
    /**
     * When its player last presented credentials; a passport inherits the time of its own session. Null if
     * nobody did, as for a guest.
     */
    authenticatedAt: p.datetime().nullable(),
    /** When its player last proved in it who they are (USR-12). */
    provedAt: p.datetime().nullable(),
    /** From the sequence `sign_in_numbers`: orders sign-ins independently of host clocks. */
    signInNumber: p.bigint("number").nullable(),
    /** The session from which a passport, a link or a consent created this one. */
    parent: p.string().length(22).nullable(),
    userAgent: p.string().length(255).nullable(),
  },
});

export type TokenFamily = InferEntity<typeof TokenFamilySchema>;
