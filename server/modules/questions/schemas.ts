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
  category: Type.Optional(Type.String({ description: "an unknown one gives an empty list" })),
  difficulty: Type.Optional(Difficulty),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
});

/** Letters, digits, whitespace and . , ! ? ' - : ; ( ) / " (document 2, generate request; TRV-05). */
const promptPattern = `^[\\p{L}\\p{N}\\s.,!?'\\-:;()/"]*$`;
const nullableText = (options: object) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], ...options });

export const GenerateBody = Type.Object({
  category: Type.String({ maxLength: 64, description: "a category or random" }),
  difficulty: Type.Enum([...difficulties, "auto"], { default: "auto" }),
  count: Type.Integer({ minimum: 1, maximum: 20, default: 10 }),
  prompt: Type.Optional(nullableText({ maxLength: 500, pattern: promptPattern })),
  model: Type.Optional(nullableText({ maxLength: 64, description: "one of GENERATOR_MODELS" })),
});

/** Without the answer (document 2, Question, play form). */
export const PlayQuestion = Type.Object({
  id: Type.Integer(),
  type: Type.Literal("multiple_choice"),
  category: Type.String(),
  difficulty: Type.String(),
  question: Type.String(),
  payload: Type.Object({
    choices: Type.Array(Type.String()),
    estimated_rate: Type.Integer(),
  }),
  is_cached: Type.Boolean(),
});

export const PlayList = Type.Object({ questions: Type.Array(PlayQuestion) });

export function presentPlayQuestion(
  row: QuestionRow & { isCached: boolean },
): Static<typeof PlayQuestion> {
  return {
    id: row.id,
    type: "multiple_choice",
    category: row.category,
    difficulty: row.difficulty,
    question: row.question,
    payload: { choices: row.choices, estimated_rate: row.estimatedRate },
    is_cached: row.isCached,
  };
}

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
