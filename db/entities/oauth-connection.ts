import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A social login linked to an account (OA-04). */
export const OauthConnectionSchema = defineEntity({
  name: "OauthConnection",
  tableName: "oauth_connections",
  uniques: [
    { name: "oauth_connections_subject_unique", properties: ["provider", "subject"] },
    { name: "oauth_connections_player_unique", properties: ["player", "provider"] },
  ],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    provider: p.string().length(32),
    /** The provider's id of the user. */
    subject: p.string().length(255),
    /** The user's name at the provider. */
    name: p.string().length(64).nullable(),
    avatarUrl: p.string().length(2_048).nullable(),
    linkedAt: p.datetime(),
    /** The session in which it was linked, or the session its first sign-in created. */
    linkedBy: p.string().length(22).nullable(),
  },
});

export type OauthConnection = InferEntity<typeof OauthConnectionSchema>;
