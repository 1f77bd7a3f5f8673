import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";
import { QuestionSchema } from "./question.ts";

/** A question marked as favorite by a player (document 2, Favorite). */
export const FavoriteSchema = defineEntity({
  name: "Favorite",
  tableName: "favorites",
  uniques: [{ name: "favorites_once_unique", properties: ["player", "question"] }],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    question: () => p.manyToOne(QuestionSchema).ref().index("favorites_question_index"),
    createdAt: p.datetime(),
  },
});

export type Favorite = InferEntity<typeof FavoriteSchema>;
