import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/**
 * Something removed from an account when its address was verified, because it had been attached without
 * that proof (S44). The player can read the list; it is deleted with the account's personal data.
 */
export const RevocationSchema = defineEntity({
  name: "Revocation",
  tableName: "revocations",
  indexes: [{ name: "revocations_player_index", properties: ["player", "id"] }],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    kind: p.enum(["session", "consent", "password", "phone", "api_key", "connection"]),
    /** What was removed: a browser, application, number, key name or provider; null for a password. */
    label: p.string().length(320).nullable(),
    /** For a connection: the provider's id of the user. */
    subject: p.string().length(255).nullable(),
    reason: p.string().length(32),
    /** When it was attached, if known. */
    attachedAt: p.datetime().nullable(),
    revokedAt: p.datetime(),
  },
});

export type Revocation = InferEntity<typeof RevocationSchema>;
