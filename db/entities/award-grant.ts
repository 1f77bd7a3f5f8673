import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** An award given to a player; what it was worth then stays, whatever the definition becomes. */
export const AwardGrantSchema = defineEntity({
  name: "AwardGrant",
  tableName: "award_grants",
  indexes: [
    { name: "award_grants_player_index", properties: ["playerId", "entryId"] },
    {
      name: "award_grants_day_index",
      properties: ["playerId", "awardId", "game", "grantedAt"],
    },
  ],
  uniques: [
    {
      // S31: however many ask at once.
      name: "award_grants_once_unique",
      expression:
        "create unique index award_grants_once_unique on award_grants (player_id, award_id, game) where not repeatable",
    },
    {
      // Most grants have no name: they need no entry.
      name: "award_grants_ref_unique",
      expression:
        "create unique index award_grants_ref_unique on award_grants (ref) where ref is not null",
    },
  ],
  properties: {
    /** The ledger entry that paid it. */
    entryId: p.bigint("number").primary().autoincrement(false),
    playerId: p.integer(),
    awardId: p.string().length(255),
    game: p.string().length(64),
    emberValue: p.integer(),
    repeatable: p.boolean(),
    grantedAt: p.datetime(),
    /** Name of the request that asked for it, when that may come again (HTTP-15). */
    ref: p.string().length(64).nullable(),
  },
});

export type AwardGrant = InferEntity<typeof AwardGrantSchema>;
