import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { changeRows, findRow, findRows } from "../rows.ts";

export interface Progress {
  score: number;
  answers: number;
  correct: number;
  bestStreak: number;
  xp: number;
}

export interface CategoryProgress extends Progress {
  category: string;
}

/** Totals of a player over all categories; null before the first answer. */
export function readProgress(em: EntityManager, playerId: number): Promise<Progress | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("player_stats")
      .select([
        "total_score as score",
        "total_answers as answers",
        "total_correct as correct",
        "best_streak as bestStreak",
        "total_xp as xp",
      ])
      .where("player_id", "=", playerId),
  );
}

/** Totals of a player in each category played, ordered by name. */
export function listCategoryProgress(
  em: EntityManager,
  playerId: number,
): Promise<CategoryProgress[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("player_category_stats")
      .select([
        "total_score as score",
        "total_answers as answers",
        "total_correct as correct",
        "best_streak as bestStreak",
        "category",
        "xp",
      ])
      .where("player_id", "=", playerId)
      .orderBy("category"),
  );
}

/** Ids of the most recently answered questions, up to `limit`, newest last. */
export async function listSeen(
  em: EntityManager,
  playerId: number,
  limit: number,
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom((of) =>
        of
          .selectFrom("question_answers")
          .select((eb) => ["question_id as id", eb.fn.max("id").as("last")])
          .where("player_id", "=", playerId)
          .groupBy("question_id")
          .orderBy("last", "desc")
          .limit(limit)
          .as("seen"),
      )
      .select("id")
      .orderBy("last"),
  );
  return rows.map((row) => row.id);
}

/** The preferences stored for the player's clients; empty before the first write. */
export async function readPreferences(
  em: EntityManager,
  playerId: number,
): Promise<Record<string, unknown>> {
  const row = await findRow(em, (db) =>
    db.selectFrom("player_preferences").select("preferences").where("player_id", "=", playerId),
  );
  return row?.preferences ?? {};
}

/** Like `readPreferences`, but locked until the transaction ends; null if there is no such player. */
export async function lockPreferences(
  em: EntityManager,
  playerId: number,
): Promise<Record<string, unknown> | null> {
  const row = await findRow(em, (db) =>
    db
      .insertInto("player_preferences")
      .columns(["player_id", "preferences"])
      .expression(
        db
          .selectFrom("players")
          .select(["id", sql<Record<string, unknown>>`'{}'::json`.as("preferences")])
          .where("id", "=", playerId),
      )
      .onConflict((conflict) =>
        conflict.column("player_id").doUpdateSet((eb) => ({
          preferences: eb.ref("player_preferences.preferences"),
        })),
      )
      .returning("preferences"),
  );
  return row?.preferences ?? null;
}

/** `json` is the JSON text of the whole map. */
export async function savePreferences(
  em: EntityManager,
  playerId: number,
  json: string,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("player_preferences")
      .set({ preferences: sql`${json}::json` })
      .where("player_id", "=", playerId),
  );
}
