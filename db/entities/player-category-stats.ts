import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** Trivia totals of a player in one category (document 2, Player state; SCO-02). */
export const PlayerCategoryStatsSchema = defineEntity({
  name: "PlayerCategoryStats",
  tableName: "player_category_stats",
  properties: {
    player: () => p.manyToOne(PlayerSchema).primary().ref(),
    category: p.string().length(64).primary(),
    totalScore: p.bigint("number").default(0),
    totalAnswers: p.integer().default(0),
    totalCorrect: p.integer().default(0),
    bestStreak: p.integer().default(0),
    currentStreak: p.integer().default(0),
    xp: p.integer().default(0),
  },
});

export type PlayerCategoryStats = InferEntity<typeof PlayerCategoryStatsSchema>;
