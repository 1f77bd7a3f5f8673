import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { rowsOf } from "./rows.ts";

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
export async function readProgress(em: EntityManager, playerId: number): Promise<Progress | null> {
  const [row] = await rowsOf(
    em,
    sql<Progress>`select total_score::float8 as score, total_answers as answers,
        total_correct as correct, best_streak as "bestStreak", total_xp as xp
      from player_stats where player_id = ${playerId}`,
  );
  return row ?? null;
}

/** Totals of a player in each category played, by name. */
export async function listCategoryProgress(
  em: EntityManager,
  playerId: number,
): Promise<CategoryProgress[]> {
  return rowsOf(
    em,
    sql<CategoryProgress>`select category, total_score::float8 as score, total_answers as answers,
        total_correct as correct, best_streak as "bestStreak", xp
      from player_category_stats where player_id = ${playerId} order by category`,
  );
}

/** Ids of the questions answered latest, at most `limit`, newest last. */
export async function listSeen(
  em: EntityManager,
  playerId: number,
  limit: number,
): Promise<number[]> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from (
        select question_id as id, max(id) as last from question_answers
        where player_id = ${playerId} group by question_id order by last desc limit ${limit}
      ) seen order by last`,
  );
  return rows.map((row) => row.id);
}

/** What the player's clients keep; empty before anything was. */
export async function readPreferences(
  em: EntityManager,
  playerId: number,
): Promise<Record<string, unknown>> {
  const [row] = await rowsOf(
    em,
    sql<{ preferences: Record<string, unknown> }>`select preferences from player_preferences
      where player_id = ${playerId}`,
  );
  return row?.preferences ?? {};
}

/** The same, locked until the transaction ends; null when there is no such player. */
export async function lockPreferences(
  em: EntityManager,
  playerId: number,
): Promise<Record<string, unknown> | null> {
  const [row] = await rowsOf(
    em,
    sql<{ preferences: Record<string, unknown> }>`
      insert into player_preferences as kept (player_id, preferences)
      select id, '{}' from players where id = ${playerId}
      on conflict (player_id) do update set preferences = kept.preferences
      returning preferences`,
  );
  return row?.preferences ?? null;
}

/** `json` is the text of the whole map. */
export async function savePreferences(
  em: EntityManager,
  playerId: number,
  json: string,
): Promise<void> {
  await rowsOf(
    em,
    sql`update player_preferences set preferences = ${json}::json where player_id = ${playerId}`,
  );
}
