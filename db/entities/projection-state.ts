import { defineEntity, p } from "@mikro-orm/postgresql";

/** What the projection's tables were made from; one row, of the game they show. */
export const ProjectionStateSchema = defineEntity({
  name: "ProjectionState",
  tableName: "projection_state",
  properties: {
    gameId: p.integer().primary().autoincrement(false),
    projectorVersion: p.integer(),
    /** Generation of the game when the tables were brought up to it. */
    generation: p.integer(),
    /** Locale -> hash of its texts. */
    textHashes: p.json(),
    builtAt: p.datetime(),
  },
});
