import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * An account that lost its address when addresses were normalized, because another account with the same
 * mailbox keeps it (GW-03). The mailbox is notified once.
 */
export const AddressCollisionSchema = defineEntity({
  name: "AddressCollision",
  tableName: "address_collisions",
  indexes: [
    {
      name: "address_collisions_pending_index",
      expression:
        "create index address_collisions_pending_index on address_collisions (player_id) where notified_at is null",
    },
  ],
  properties: {
    playerId: p.integer().primary().autoincrement(false),
    /** The account that now has the address. */
    keptPlayerId: p.integer(),
    /** Normal form of the address. */
    address: p.string().length(254),
    /** The comparison key before normalization, for a down migration. */
    formerKey: p.string().length(254),
    verifiedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    notifiedAt: p.datetime().nullable(),
  },
});

export type AddressCollision = InferEntity<typeof AddressCollisionSchema>;
