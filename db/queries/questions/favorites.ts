import type { EntityManager } from "@mikro-orm/postgresql";
import { questionColumns, type QuestionRow } from "./questions.ts";
import { millis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";

export interface FavoriteRow {
  id: number;
  questionId: number;
  createdAtMs: number;
}

export interface ListedFavorite extends Omit<FavoriteRow, "questionId"> {
  question: QuestionRow;
  /** True if the player has a recorded answer to the question (TRV-12). */
  isAnswered: boolean;
}

/** Favorites of a player, newest first, up to `limit`. */
export async function listFavorites(
  em: EntityManager,
  playerId: number,
  limit: number,
): Promise<ListedFavorite[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("favorites as f")
      .innerJoin("questions as q", "q.id", "f.question_id")
      .select(questionColumns)
      .select((eb) => [
        "f.id as favoriteId",
        millis("f.created_at").as("createdAtMs"),
        eb
          .exists(
            eb
              .selectFrom("question_answers as a")
              .select("a.id")
              .whereRef("a.player_id", "=", "f.player_id")
              .whereRef("a.question_id", "=", "f.question_id"),
          )
          .as("isAnswered"),
      ])
      .where("f.player_id", "=", playerId)
      .orderBy("f.id", "desc")
      .limit(limit),
  );
  return rows.map(({ favoriteId, createdAtMs, isAnswered, ...question }) => ({
    id: favoriteId,
    createdAtMs,
    isAnswered: isAnswered === true,
    question,
  }));
}

export async function insertFavorite(
  em: EntityManager,
  { playerId, questionId, now }: { playerId: number; questionId: number; now: Date },
): Promise<FavoriteRow> {
  const favorite = await findRow(em, (db) =>
    db
      .insertInto("favorites")
      .values({ player_id: playerId, question_id: questionId, created_at: now })
      .returning(["id", "question_id as questionId", millis("created_at").as("createdAtMs")]),
  );
  if (favorite === null) throw new Error("the insert returned no favorite");
  return favorite;
}

/** What decides whether a question can become a favorite of a player. */
export interface FavoriteState {
  isQuestion: boolean;
  isFavorite: boolean;
  /** Number of the player's favorites. */
  count: number;
}

export async function readFavoriteState(
  em: EntityManager,
  { playerId, questionId }: { playerId: number; questionId: number },
): Promise<FavoriteState> {
  const state = await findRow(em, (db) =>
    db.selectNoFrom((eb) => [
      eb
        .exists(eb.selectFrom("questions").select("id").where("id", "=", questionId))
        .as("isQuestion"),
      eb
        .exists(
          eb
            .selectFrom("favorites")
            .select("id")
            .where("player_id", "=", playerId)
            .where("question_id", "=", questionId),
        )
        .as("isFavorite"),
      eb
        .selectFrom("favorites")
        .select((of) => of.fn.countAll<number>().as("count"))
        .where("player_id", "=", playerId)
        .as("count"),
    ]),
  );
  return {
    isQuestion: state?.isQuestion === true,
    isFavorite: state?.isFavorite === true,
    count: state?.count ?? 0,
  };
}

/** False if the question was not among the player's favorites. */
export async function removeFavorite(
  em: EntityManager,
  playerId: number,
  questionId: number,
): Promise<boolean> {
  const numDeleted = await changeRows(em, (db) =>
    db
      .deleteFrom("favorites")
      .where("player_id", "=", playerId)
      .where("question_id", "=", questionId),
  );
  return numDeleted > 0;
}
