import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Value and limits of an award (WAL-03). */
export const AwardDefinitionSchema = defineEntity({
  name: "AwardDefinition",
  tableName: "award_definitions",
  uniques: [{ name: "award_definitions_award_game_unique", properties: ["awardId", "game"] }],
  properties: {
    id: p.integer().primary(),
    awardId: p.string().length(255),
    game: p.string().length(64),
    name: p.string().length(128),
    /** 1-100,000. */
    emberValue: p.integer(),
    repeatable: p.boolean().default(false),
    /** Grants per player and UTC day; null = no limit. */
    dailyLimit: p.integer().nullable(),
    clientClaimable: p.boolean().default(true),
    isActive: p.boolean().default(true),
  },
});

export type AwardDefinition = InferEntity<typeof AwardDefinitionSchema>;
