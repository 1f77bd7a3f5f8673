import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";
import { RealmSchema } from "./realm.ts";

/** A machine credential of one account in one realm (KEY-01..KEY-08). */
export const ApiKeySchema = defineEntity({
  name: "ApiKey",
  tableName: "api_keys",
  indexes: [{ name: "api_keys_owner_index", properties: ["owner", "realm"] }],
  properties: {
    id: p.integer().primary(),
    owner: () => p.manyToOne(PlayerSchema).ref(),
    realm: () => p.manyToOne(RealmSchema).ref(),
    name: p.string().length(128),
    /** Not secret; unchanged when the key is rolled. */
    prefix: p.string().length(16).unique("api_keys_prefix_unique"),
    /** SHA-256 of the plaintext, lower-case hexadecimal. */
    secretHash: p.string().length(64).hidden(),
    scopes: p.array().columnType("text[]").defaultRaw("'{}'"),
    /** Hosts in the form of KEY-05, lower case; empty means any. */
    origins: p.array().columnType("text[]").defaultRaw("'{}'"),
    isActive: p.boolean().default(true),
    /** Updated at most once a minute. */
    lastUsedAt: p.datetime().nullable(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    /** When its secret was replaced. */
    rolledAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    /** Reason, if anyone but the owner revoked it. */
    revokedReason: p.string().length(32).nullable(),
    /** The session in which its current secret was shown. */
    createdBy: p.string().length(22).nullable(),
  },
});

export type ApiKey = InferEntity<typeof ApiKeySchema>;
