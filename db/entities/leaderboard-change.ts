import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * Outbox row: a leaderboard entry may have moved. It is written in the transaction that moves it and has no
 * batch until it is projected to Redis. Projected rows are kept for a while, so that they can be replayed
 * to a Redis that lost its last seconds of writes (server/features/leaderboards/domain/README.md).
 */
export const LeaderboardChangeSchema = defineEntity({
  name: "LeaderboardChange",
  tableName: "board_changes",
  indexes: [
    {
      name: "board_changes_waiting_index",
      expression:
        "create index board_changes_waiting_index on board_changes (id) where batch is null",
    },
    {
      name: "board_changes_batch_index",
      expression:
        "create index board_changes_batch_index on board_changes (batch) where batch is not null",
    },
  ],
  properties: {
    id: p.bigint("number").primary(),
    kind: p.enum(["player", "team", "run", "word"]),
    /** Id in `players`, `teams`, `runs` or `word_results`; the row may no longer exist. */
    subjectId: p.integer(),
    batch: p.bigint("number").nullable(),
  },
});

export type LeaderboardChange = InferEntity<typeof LeaderboardChangeSchema>;
export type ChangeKind = LeaderboardChange["kind"];

/** A single row: the last projected batch, and the last batch whose changes were deleted. */
export const LeaderboardStateSchema = defineEntity({
  name: "LeaderboardState",
  tableName: "board_state",
  properties: {
    id: p.smallint().primary().autoincrement(false),
    batch: p.bigint("number").default(0),
    trimmed: p.bigint("number").default(0),
  },
});

export type LeaderboardState = InferEntity<typeof LeaderboardStateSchema>;
