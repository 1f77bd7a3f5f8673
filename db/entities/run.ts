import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { ChallengeSchema } from "./challenge.ts";

/** One run of a player through questions (document 2, Run). */
export const RunSchema = defineEntity({
  name: "Run",
  tableName: "runs",
  indexes: [
    {
      // Serves the leaderboard of a challenge (LB-03).
      name: "runs_board_index",
      expression:
        "create index runs_board_index on runs (challenge_id, score desc, total_time_ms, finished_at, id) where is_finished",
    },
    {
      name: "runs_challenge_unique",
      expression:
        "create unique index runs_challenge_unique on runs (player_id, challenge_id) where challenge_id is not null",
    },
    {
      name: "runs_endless_unique",
      expression:
        "create unique index runs_endless_unique on runs (player_id) where mode = 'endless' and not is_finished",
    },
    {
      name: "runs_stale_index",
      expression:
        "create index runs_stale_index on runs (touched_at) where mode = 'endless' and not is_finished",
    },
    {
      // Serves the checks whether a challenge is still played and which runs were abandoned.
      name: "runs_unfinished_index",
      expression:
        "create index runs_unfinished_index on runs (challenge_id) where challenge_id is not null and not is_finished",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Id in `players`; no foreign key, since runs outlive closed accounts. */
    playerId: p.integer(),
    mode: p.enum(["endless", "daily_shuffle", "gauntlet"]),
    challenge: () => p.manyToOne(ChallengeSchema).ref().nullable(),
    /** As requested: a category, `random` or null. */
    category: p.string().length(64).nullable(),
    score: p.integer().default(0),
    streak: p.integer().default(0),
    bestStreak: p.integer().default(0),
    numCorrect: p.integer().default(0),
    currentIndex: p.integer().default(0),
    /** Sum of the answer times used for scoring (SCO-04). */
    totalTimeMs: p.integer().default(0),
    /** Every question served so far, or those of the challenge; `currentIndex` is an index into it. */
    questionIds: p.array((id) => Number(id)).columnType("int[]"),
    /** Whether the current question has been answered. */
    isAnswered: p.boolean().default(false),
    /** When the current question was first shown; after an answer, the next one. */
    shownAt: p.datetime(),
    /** Time of the start or the last answer. */
    touchedAt: p.datetime(),
    isFinished: p.boolean().default(false),
    createdAt: p.datetime(),
    finishedAt: p.datetime().nullable(),
  },
});

export type Run = InferEntity<typeof RunSchema>;
