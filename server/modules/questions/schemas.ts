import Type, { type Static } from "typebox";
import type { QuestionRow } from "../../../db/queries/questions.ts";
import { difficulties } from "../../providers/question-model.ts";

export const Difficulty = Type.Enum([...difficulties, "auto"]);

export const CategoryList = Type.Object({
  categories: Type.Array(
    Type.Object({
      name: Type.String(),
      num_questions: Type.Integer({ description: "stored questions (TRV-01)" }),
    }),
  ),
});

export const CatalogQuestion = Type.Object({
  id: Type.Integer(),
  type: Type.Literal("multiple_choice"),
  category: Type.String(),
  difficulty: Type.String(),
  question: Type.String(),
  answers: Type.Array(Type.String()),
  correct_index: Type.Integer({ minimum: 0, maximum: 3 }),
  explanation: Type.String(),
});

export const CatalogList = Type.Object({ questions: Type.Array(CatalogQuestion) });

export const CatalogQuery = Type.Object({
  category: Type.Optional(Type.String({ maxLength: 64 })),
  difficulty: Type.Optional(Difficulty),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
});

/** Reveals the answer: for public questions only (TRV-12). */
export function presentCatalogQuestion(row: QuestionRow): Static<typeof CatalogQuestion> {
  return {
    id: row.id,
    type: "multiple_choice",
    category: row.category,
    difficulty: row.difficulty,
    question: row.question,
    answers: row.choices,
    correct_index: row.correctIndex,
    explanation: row.explanation,
  };
}
