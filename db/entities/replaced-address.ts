import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/**
 * A verified address that its account replaced (USR-13). It stays reserved for the account, and the link in its mail
 * restores it.
 */
export const ReplacedAddressSchema = defineEntity({
  name: "ReplacedAddress",
  tableName: "replaced_addresses",
  indexes: [
    { name: "replaced_addresses_player_index", properties: ["player", "id"] },
    {
      // At most one address of an account receives its codes and links.
      name: "replaced_addresses_current_unique",
      expression:
        "create unique index replaced_addresses_current_unique on replaced_addresses (player_id) where superseded_at is null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    emailKey: p.string().length(254).index("replaced_addresses_email_key_index"),
    verifiedAt: p.datetime(),
    /** The `jti` of the tokens that restore it; not secret, since only a signed token contains it. */
    tokenId: p.string().length(22),
    replacedAt: p.datetime(),
    /** End of the links and of the reservation, unless it still receives codes and links then. */
    expiresAt: p.datetime().index("replaced_addresses_expires_at_index"),
    /** When the account verified a newer address; until then this one alone receives codes and reset links. */
    supersededAt: p.datetime().nullable(),
  },
});

export type ReplacedAddress = InferEntity<typeof ReplacedAddressSchema>;
