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

export type Added =
  | { outcome: "added"; favorite: FavoriteRow }
  | { outcome: "exists" | "full" | "no_question" | "no_player" };

/** Adds a favorite, in a transaction; concurrent calls for one player run one after another. */
export async function addFavorite(
  em: EntityManager,
  input: { playerId: number; questionId: number; limit: number; now: Date },
): Promise<Added> {
  const { playerId, questionId, now } = input;
  const player = await findRow(em, (db) =>
    db.selectFrom("players").select("id").where("id", "=", playerId).forNoKeyUpdate(),
  );
  if (player === null) return { outcome: "no_player" };
  const hindered = await findHindrance(em, input);
  if (hindered !== null) return hindered;
  const favorite = await findRow(em, (db) =>
    db
      .insertInto("favorites")
      .values({ player_id: playerId, question_id: questionId, created_at: now })
      .returning(["id", "question_id as questionId", millis("created_at").as("createdAtMs")]),
  );
  if (favorite === null) throw new Error("the insert returned no favorite");
  return { outcome: "added", favorite };
}

/** The reason why a question cannot become a favorite now, checked without a lock; null if it can. */
export async function findHindrance(
  em: EntityManager,
  { playerId, questionId, limit }: { playerId: number; questionId: number; limit: number },
): Promise<Added | null> {
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
        .as("isKept"),
      eb
        .selectFrom("favorites")
        .select((of) => of.fn.countAll<number>().as("count"))
        .where("player_id", "=", playerId)
        .as("count"),
    ]),
  );
  if (state === null || !state.isQuestion) return { outcome: "no_question" };
  if (state.isKept) return { outcome: "exists" };
  return (state.count ?? 0) >= limit ? { outcome: "full" } : null;
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
