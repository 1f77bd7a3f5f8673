import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** An award given to a player. It keeps its value when the definition changes. */
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
      // S31: one grant, however many requests race.
      name: "award_grants_once_unique",
      expression:
        "create unique index award_grants_once_unique on award_grants (player_id, award_id, game) where not repeatable",
    },
    {
      // Most grants have no reference and need no index entry.
      name: "award_grants_ref_unique",
      expression:
        "create unique index award_grants_ref_unique on award_grants (ref) where ref is not null",
    },
  ],
  properties: {
    /** The ledger entry that paid this grant. */
    entryId: p.bigint("number").primary().autoincrement(false),
    playerId: p.integer(),
    awardId: p.string().length(255),
    game: p.string().length(64),
    emberValue: p.integer(),
    repeatable: p.boolean(),
    grantedAt: p.datetime(),
    /** Idempotency reference of the request (HTTP-15). */
    ref: p.string().length(64).nullable(),
  },
});

export type AwardGrant = InferEntity<typeof AwardGrantSchema>;
