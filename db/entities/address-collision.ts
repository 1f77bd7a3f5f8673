import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * An account that lost its address when addresses got one normal form: another account has the same
 * mailbox and keeps it (GW-03). The mailbox is notified once.
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
    /** The account that has the address now. */
    keptPlayerId: p.integer(),
    /** Normal form. */
    address: p.string().length(254),
    /** As it was compared before, for the way back. */
    formerKey: p.string().length(254),
    verifiedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    notifiedAt: p.datetime().nullable(),
  },
});

export type AddressCollision = InferEntity<typeof AddressCollisionSchema>;
