import { defineEntity, p } from "@mikro-orm/postgresql";

/** Inputs of the projection's tables; one row, for the projected game. */
export const ProjectionStateSchema = defineEntity({
  name: "ProjectionState",
  tableName: "projection_state",
  properties: {
    gameId: p.integer().primary().autoincrement(false),
    projectorVersion: p.integer(),
    /** Generation of the game at the last refresh of the tables. */
    generation: p.integer(),
    /** Locale -> hash of its texts. */
    textHashes: p.json(),
    builtAt: p.datetime(),
  },
});
