import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/**
 * Something that was taken from an account when somebody proved that its address is theirs: who had
 * attached it had not (S44). The player can read the list; it goes with the account's personal data.
 */
export const RevocationSchema = defineEntity({
  name: "Revocation",
  tableName: "revocations",
  indexes: [{ name: "revocations_player_index", properties: ["player", "id"] }],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    kind: p.enum(["session", "consent", "password", "phone", "api_key", "connection"]),
    /** What it was: a browser, a program, a number, a key's name, a provider; null for a password. */
    label: p.string().length(320).nullable(),
    /** Of a connection: the provider's own id of the person. */
    subject: p.string().length(255).nullable(),
    reason: p.string().length(32),
    /** When it came to the account, where that is known. */
    attachedAt: p.datetime().nullable(),
    revokedAt: p.datetime(),
  },
});

export type Revocation = InferEntity<typeof RevocationSchema>;
