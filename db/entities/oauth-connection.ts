import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A login at a social provider that leads to an account (OA-04). */
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
    /** The provider's own id of the person. */
    subject: p.string().length(255),
    /** What the provider calls the person. */
    name: p.string().length(64).nullable(),
    avatarUrl: p.string().length(2_048).nullable(),
    linkedAt: p.datetime(),
    /** Session it was linked in, or that its first sign-in opened. */
    linkedBy: p.string().length(22).nullable(),
  },
});

export type OauthConnection = InferEntity<typeof OauthConnectionSchema>;
