import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A continuous series of practice answers (document 2, Play session; RUN-01). */
export const PlaySessionSchema = defineEntity({
  name: "PlaySession",
  tableName: "play_sessions",
  uniques: [
    {
      name: "play_sessions_open_unique",
      expression:
        "create unique index play_sessions_open_unique on play_sessions (player_id) where ended_at is null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    totalPoints: p.bigint("number").default(0),
    totalCorrect: p.integer().default(0),
    totalAnswered: p.integer().default(0),
    currentStreak: p.integer().default(0),
    bestStreak: p.integer().default(0),
    createdAt: p.datetime(),
    /** Time of the last answer. */
    updatedAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});

export type PlaySession = InferEntity<typeof PlaySessionSchema>;
