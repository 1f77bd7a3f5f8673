import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Ranks of a player on the four tabs of the global leaderboard at the start of a UTC day (LB-02). */
export const RankSnapshotSchema = defineEntity({
  name: "RankSnapshot",
  tableName: "rank_snapshots",
  properties: {
    day: p.date().primary(),
    playerId: p.integer().primary(),
    score: p.integer(),
    accuracy: p.integer(),
    streak: p.integer(),
    xp: p.integer(),
  },
});

export type RankSnapshot = InferEntity<typeof RankSnapshotSchema>;

/** A day whose ranks are complete; queries use the latest one. */
export const RankSnapshotDaySchema = defineEntity({
  name: "RankSnapshotDay",
  tableName: "rank_snapshot_days",
  properties: { day: p.date().primary(), takenAt: p.datetime() },
});

export type RankSnapshotDay = InferEntity<typeof RankSnapshotDaySchema>;
