import Type, { type Static } from "typebox";
import type { FavoriteRow, ListedFavorite } from "../../../db/queries/questions/favorites.ts";
import type { CategoryProgress, Progress } from "../../../db/queries/progress/player-progress.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { progressOf } from "./domain/levels.ts";
import { PlaySession, presentSession } from "../runs/domain/session-shape.ts";
import type { StateView } from "./service.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

const Preferences = Type.Record(Type.String(), Type.Unknown(), {
  description: "preferences of the player's clients",
});

const Stats = Type.Object(
  {
    total_score: Type.Integer(),
    total_answers: Type.Integer(),
    total_correct: Type.Integer(),
    best_streak: Type.Integer(),
    total_xp: Type.Integer(),
  },
  { title: "PlayerStats" },
);

const CategoryStats = Type.Object(
  {
    xp: Type.Integer(),
    level: Type.Integer({ minimum: 1 }),
    xp_in_level: Type.Integer(),
    xp_for_next_level: Type.Integer(),
    total_answers: Type.Integer(),
    total_correct: Type.Integer(),
    best_streak: Type.Integer(),
    percentage: Type.Number({
      minimum: 0,
      maximum: 100,
      description: "percent of correct answers, one decimal",
    }),
  },
  { title: "CategoryStats" },
);

export const PlayerState = Type.Object(
  {
    preferences: Preferences,
    stats: Stats,
    category_stats: Type.Record(Type.String(), CategoryStats),
    seen_question_ids: Type.Array(Type.Integer(), {
      description: "the most recent ones, newest last",
    }),
    play_session: Type.Union([PlaySession, Type.Null()]),
  },
  { title: "PlayerState" },
);

export const Ended = Type.Object({ ok: Type.Literal(true) });

/** Keys are chosen by the client. */
export const PreferencesBody = Type.Object({}, { additionalProperties: true });
export const PreferencesView = Type.Object({ preferences: Preferences });

/** Catalog form; hidden fields of a competition question are null (TRV-12). */
const FavoriteQuestion = Type.Object(
  {
    id: Type.Integer(),
    type: Type.Literal("multiple_choice"),
    category: Type.String(),
    difficulty: Type.String(),
    question: Type.String(),
    answers: Type.Array(Type.String()),
    correct_index: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      minimum: 0,
      maximum: 3,
    }),
    explanation: Type.Unsafe<string | null>({ type: ["string", "null"] }),
  },
  { title: "FavoriteQuestion" },
);

export const FavoriteList = Type.Object({
  favorites: Type.Array(
    Type.Object({ id: Type.Integer(), question: FavoriteQuestion, created_at: Timestamp }),
  ),
});

export const FavoriteBody = Type.Object({ question_id: Type.Integer() });

export const FavoriteView = Type.Object({
  favorite: Type.Object(
    {
      id: Type.Integer(),
      question_id: Type.Integer(),
      created_at: Timestamp,
    },
    { title: "Favorite" },
  ),
});

export const FavoriteParams = Type.Object({
  questionId: Id,
});

export function presentState(view: StateView): Static<typeof PlayerState> {
  const { preferences, totals, categories, seen, session } = view;
  return {
    preferences,
    stats: presentStats(totals),
    category_stats: Object.fromEntries(
      categories.map((one) => [one.category, presentCategory(one)]),
    ),
    seen_question_ids: seen,
    play_session: session === null ? null : presentSession(session),
  };
}

function presentStats(totals: Progress | null): Static<typeof Stats> {
  return {
    total_score: totals?.score ?? 0,
    total_answers: totals?.answers ?? 0,
    total_correct: totals?.correct ?? 0,
    best_streak: totals?.bestStreak ?? 0,
    total_xp: totals?.xp ?? 0,
  };
}

function presentCategory(one: CategoryProgress): Static<typeof CategoryStats> {
  const { level, xpInLevel, xpForNextLevel } = progressOf(one.xp);
  return {
    xp: one.xp,
    level,
    xp_in_level: xpInLevel,
    xp_for_next_level: xpForNextLevel,
    total_answers: one.answers,
    total_correct: one.correct,
    best_streak: one.bestStreak,
    percentage: one.answers === 0 ? 0 : Math.round((1_000 * one.correct) / one.answers) / 10,
  };
}

export function presentFavorite(row: FavoriteRow): Static<typeof FavoriteView> {
  const { id, questionId, createdAtMs } = row;
  return { favorite: { id, question_id: questionId, created_at: timestamp(createdAtMs) } };
}

export function presentListed(row: ListedFavorite): Static<typeof FavoriteList>["favorites"][0] {
  const { question } = row;
  const isOpen = question.pool === "public" || row.isAnswered;
  return {
    id: row.id,
    question: {
      id: question.id,
      type: "multiple_choice",
      category: question.category,
      difficulty: question.difficulty,
      question: question.question,
      answers: question.choices,
      correct_index: isOpen ? question.correctIndex : null,
      explanation: isOpen ? question.explanation : null,
    },
    created_at: timestamp(row.createdAtMs),
  };
}
