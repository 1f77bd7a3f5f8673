import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * Something on a leaderboard may have moved; written in the transaction that moved it. Rows wait without a
 * batch until they are projected to Redis, and are kept for a while after, so that a Redis that
 * lost its last seconds can be brought up to date again (server/features/leaderboards/domain/README.md).
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
    /** Row of `players`, `teams`, `runs` or `word_results`; it may be gone. */
    subjectId: p.integer(),
    batch: p.bigint("number").nullable(),
  },
});

export type LeaderboardChange = InferEntity<typeof LeaderboardChangeSchema>;
export type ChangeKind = LeaderboardChange["kind"];

/** One row: the last batch that was projected, and the last one whose changes were deleted. */
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
