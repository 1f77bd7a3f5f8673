import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A login at a social provider that leads to an account (OA-04). */
export const OauthConnectionSchema = defineEntity({
  name: "OauthConnection",
  tableName: "oauth_connections",
  uniques: [
    {
      // What was revoked stays, and binds nobody.
      name: "oauth_connections_subject_unique",
      expression:
        "create unique index oauth_connections_subject_unique on oauth_connections (provider, subject) where revoked_at is null",
    },
    {
      name: "oauth_connections_player_unique",
      expression:
        "create unique index oauth_connections_player_unique on oauth_connections (player_id, provider) where revoked_at is null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    provider: p.string().length(32),
    /** The provider's own id of the person. */
    subject: p.string().length(255),
    /** What the provider calls the person. */
    name: p.string().length(64).nullable(),
    avatarUrl: p.string().length(2_048).nullable(),
    linkedAt: p.datetime(),
    /** Session it was linked in, or that its first sign-in opened. */
    linkedBy: p.string().length(22).nullable(),
    revokedAt: p.datetime().nullable(),
    revokedReason: p.string().length(32).nullable(),
  },
});

export type OauthConnection = InferEntity<typeof OauthConnectionSchema>;
