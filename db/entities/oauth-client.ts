import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { RealmSchema } from "./realm.ts";

/** A third-party application that players may authorize (OA-06). */
export const OAuthClientSchema = defineEntity({
  name: "OAuthClient",
  tableName: "oauth_clients",
  properties: {
    id: p.integer().primary(),
    clientId: p.string().length(32).unique("oauth_clients_client_id_unique"),
    realm: () => p.manyToOne(RealmSchema).ref(),
    /** Shown to players on the consent page. */
    name: p.string().length(64),
    /** SHA-256 of the secret; null for a public client, which has none. */
    secretHash: p.string().length(64).nullable().hidden(),
    /** Compared exactly. */
    redirectUris: p.array().columnType("text[]").defaultRaw("'{}'"),
    createdAt: p.datetime().defaultRaw("now()"),
    revokedAt: p.datetime().nullable(),
  },
});

export type OAuthClient = InferEntity<typeof OAuthClientSchema>;
