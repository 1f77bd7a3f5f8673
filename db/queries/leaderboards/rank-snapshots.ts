import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { advisoryLocks } from "../../advisory-locks.ts";
import { setStatementTimeout } from "../../prepared.ts";
import { changeRows, findRow } from "../rows.ts";

/** Ranking a million players takes several seconds. */
const statementSeconds = 600;

export async function hasSnapshot(em: EntityManager, day: string): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db.selectFrom("rank_snapshot_days").select("day").where("day", "=", day),
  );
  return row !== null;
}

/**
 * Stores the ranks of all four tabs for this UTC day and deletes those of earlier days (LB-02). Requires a
 * transaction. A second call for the same day does nothing.
 */
export async function takeSnapshot(em: EntityManager, day: string, takenAt: Date): Promise<void> {
  await setStatementTimeout(em, statementSeconds);
  await findRow(em, (db) =>
    db.selectNoFrom(({ fn, val }) =>
      fn("pg_advisory_xact_lock", [val(advisoryLocks.rankSnapshots)]).as("locked"),
    ),
  );
  if (await hasSnapshot(em, day)) return;
  const rank = (by: string) => sql<number>`rank() over (order by ${sql.raw(by)} desc)`;
  await changeRows(em, (db) =>
    db
      .insertInto("rank_snapshots")
      .columns(["day", "player_id", "score", "accuracy", "streak", "xp"])
      .expression(
        db
          .selectFrom("player_stats")
          .select([
            sql<string>`${day}::date`.as("day"),
            "player_id",
            rank("total_score").as("score"),
            rank("round(100.0 * total_correct / total_answers)").as("accuracy"),
            rank("best_streak").as("streak"),
            rank("total_xp").as("xp"),
          ])
          .where("total_answers", ">", 0),
      ),
  );
  await changeRows(em, (db) =>
    db.insertInto("rank_snapshot_days").values({ day, taken_at: takenAt }),
  );
  await changeRows(em, (db) => db.deleteFrom("rank_snapshots").where("day", "<", day));
  await changeRows(em, (db) => db.deleteFrom("rank_snapshot_days").where("day", "<", day));
}

/**
 * Answers of a lobby are stored when it ends, after newer answers of others, so the newest row alone does
 * not decide.
 */
const lastAnswers = 10_000;

/** Whether anything has been answered since then; examines the last `lastAnswers` rows. */
export async function isAnsweredSince(em: EntityManager, since: Date): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom((of) =>
        of
          .selectFrom("question_answers")
          .select("created_at")
          .orderBy("id", "desc")
          .limit(lastAnswers)
          .as("last"),
      )
      .select("created_at")
      .where("created_at", ">=", since)
      .limit(1),
  );
  return row !== null;
}
