import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { questionColumns, type QuestionRow } from "./questions.ts";
import { rowsOf } from "./rows.ts";

export interface FavoriteRow {
  id: number;
  questionId: number;
  createdAtMs: number;
}

export interface ListedFavorite extends Omit<FavoriteRow, "questionId"> {
  question: QuestionRow;
  /** The player has a recorded answer to the question (TRV-12). */
  isAnswered: boolean;
}

const createdAt = sql`(extract(epoch from f.created_at) * 1000)::float8 as "createdAtMs"`;

/** Favorites of a player, newest first, at most `limit`. */
export async function listFavorites(
  em: EntityManager,
  playerId: number,
  limit: number,
): Promise<ListedFavorite[]> {
  const rows = await rowsOf(
    em,
    sql<QuestionRow & { favoriteId: number; createdAtMs: number; isAnswered: boolean }>`
      select ${questionColumns}, f.id as "favoriteId", ${createdAt},
        exists (select 1 from question_answers a
          where a.player_id = f.player_id and a.question_id = f.question_id) as "isAnswered"
      from favorites f join questions q on q.id = f.question_id
      where f.player_id = ${playerId} order by f.id desc limit ${limit}`,
  );
  return rows.map(({ favoriteId, createdAtMs, isAnswered, ...question }) => ({
    id: favoriteId,
    createdAtMs,
    isAnswered,
    question,
  }));
}

export type Added =
  | { outcome: "added"; favorite: FavoriteRow }
  | { outcome: "exists" | "full" | "no_question" | "no_player" };

/** Keeps a question, in a transaction; of several calls at once for one player each sees the one before. */
export async function addFavorite(
  em: EntityManager,
  input: { playerId: number; questionId: number; limit: number; now: Date },
): Promise<Added> {
  const { playerId, questionId, now } = input;
  const players = await rowsOf(
    em,
    sql`select 1 from players where id = ${playerId} for no key update`,
  );
  if (players.length === 0) return { outcome: "no_player" };
  const hindered = await findHindrance(em, input);
  if (hindered !== null) return hindered;
  const [favorite] = await rowsOf(
    em,
    sql<FavoriteRow>`insert into favorites as f (player_id, question_id, created_at)
      values (${playerId}, ${questionId}, ${now})
      returning f.id, f.question_id as "questionId", ${createdAt}`,
  );
  if (favorite === undefined) throw new Error("the insert returned no favorite");
  return { outcome: "added", favorite };
}

/** Why a question cannot be kept as things are, found out without a lock; null when it can. */
export async function findHindrance(
  em: EntityManager,
  { playerId, questionId, limit }: { playerId: number; questionId: number; limit: number },
): Promise<Added | null> {
  const [state] = await rowsOf(
    em,
    sql<{ isQuestion: boolean; isKept: boolean; count: number }>`
      select exists (select 1 from questions where id = ${questionId}) as "isQuestion",
        exists (select 1 from favorites
          where player_id = ${playerId} and question_id = ${questionId}) as "isKept",
        (select count(*)::int from favorites where player_id = ${playerId}) as count`,
  );
  if (!state?.isQuestion) return { outcome: "no_question" };
  if (state.isKept) return { outcome: "exists" };
  return state.count >= limit ? { outcome: "full" } : null;
}

/** False when the question was not among the player's favorites. */
export async function removeFavorite(
  em: EntityManager,
  playerId: number,
  questionId: number,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`delete from favorites where player_id = ${playerId} and question_id = ${questionId}
      returning id`,
  );
  return rows.length > 0;
}
