import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

const leaderboardIndex = (name: string, order: string) => ({
  name,
  expression: `create index ${name} on player_stats (${order})`,
});

/**
 * Trivia totals of a player; the row exists from the first recorded answer on (document 2, Player state).
 * The `...At` columns record when a total last grew: the earlier one wins a tie on leaderboards (LB-01).
 */
export const PlayerStatsSchema = defineEntity({
  name: "PlayerStats",
  tableName: "player_stats",
  indexes: [
    leaderboardIndex("player_stats_score_index", "total_score desc, score_at, player_id"),
    leaderboardIndex("player_stats_xp_index", "total_xp desc, xp_at, player_id"),
    leaderboardIndex("player_stats_streak_index", "best_streak desc, streak_at, player_id"),
  ],
  triggers: [
    {
      // A trigger records a leaderboard change whenever totals are written
      // (server/features/leaderboards/domain/README.md).
      name: "player_stats_noted",
      timing: "after",
      events: ["insert", "update"],
      forEach: "row",
      body: "if new.total_answers > 0 then insert into board_changes (kind, subject_id) values ('player', new.player_id); end if; return null",
    },
  ],
  properties: {
    player: () => p.oneToOne(PlayerSchema).primary().ref().owner(),
    totalScore: p.bigint("number").default(0),
    totalAnswers: p.integer().default(0),
    totalCorrect: p.integer().default(0),
    bestStreak: p.integer().default(0),
    currentStreak: p.integer().default(0),
    totalXp: p.integer().default(0),
    scoreAt: p.datetime().defaultRaw("now()"),
    xpAt: p.datetime().defaultRaw("now()"),
    streakAt: p.datetime().defaultRaw("now()"),
  },
});

export type PlayerStats = InferEntity<typeof PlayerStatsSchema>;
