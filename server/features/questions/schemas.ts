import Type, { type Static } from "typebox";
import type { QuestionRow } from "../../../db/queries/questions/questions.ts";
import { PlaySession, presentSession } from "../runs/domain/session-shape.ts";
import { categories, difficulties } from "./providers/question-model.ts";
import { isCategory, slugOf } from "./categories.ts";
import type { Drawn } from "./draw.ts";
import type { PracticeResult } from "./practice.ts";
import { Id } from "../../platform/schemas.ts";

export const Difficulty = Type.Enum([...difficulties, "auto"]);

export const CategoryList = Type.Object({
  categories: Type.Array(
    Type.Object({
      name: Type.String(),
      num_questions: Type.Integer({ description: "stored questions (TRV-01)" }),
    }),
  ),
});

export const CatalogQuestion = Type.Object(
  {
    id: Type.Integer(),
    type: Type.Literal("multiple_choice"),
    category: Type.String(),
    difficulty: Type.String(),
    question: Type.String(),
    answers: Type.Array(Type.String()),
    correct_index: Type.Integer({ minimum: 0, maximum: 3 }),
    explanation: Type.String(),
  },
  { title: "CatalogQuestion" },
);

export const CatalogList = Type.Object({ questions: Type.Array(CatalogQuestion) });

export const CatalogQuery = Type.Object({
  category: Type.Optional(Type.String({ description: "an unknown one returns an empty list" })),
  difficulty: Type.Optional(Difficulty),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
});

/** Document 2, generate request; TRV-05. Many a letter is written with marks, such as the vowels of Hindi. */
export const promptRule = {
  pattern: `^[\\p{L}\\p{M}\\p{N}\\s.,!?'\\-:;()/"]*$`,
  description: "letters, digits, spaces and . , ! ? ' - : ; ( ) / \" alone",
};
const nullableText = (options: object) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], ...options });

/**
 * A category or `random`: a part of the form check, so that it is reported with all other violations (HTTP-06,
 * TRV-01). The caller handles null; other wrong types have their own violation.
 */
export const named = <T extends Type.TSchema>(schema: T) =>
  Type.Refine(
    schema,
    (value) => typeof value !== "string" || slugOf(value) === "random" || isCategory(slugOf(value)),
    () => "is not a known category",
  );

export const GenerateBody = Type.Object({
  category: named(Type.String({ maxLength: 64, description: "a category or random" })),
  difficulty: Type.Enum([...difficulties, "auto"], { default: "auto" }),
  count: Type.Integer({ minimum: 1, maximum: 20, default: 10 }),
  prompt: Type.Optional(nullableText({ maxLength: 500, ...promptRule })),
  model: Type.Optional(nullableText({ maxLength: 64, description: "one of GENERATOR_MODELS" })),
});

/** A blank prompt is none (TRV-05), and here one is needed. */
export const CategorizeBody = Type.Object({
  prompt: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: promptRule.pattern.replace("^", "^(?=\\s*\\S)"),
    description: `${promptRule.description}, and more than spaces`,
  }),
});

export const CategoryKeys = Type.Object({
  categories: Type.Array(Type.Enum([...categories]), { minItems: 1, maxItems: 5 }),
});

export const QuestionParams = Type.Object({
  id: Id,
});

const milliseconds = (maximum: number) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: 0, maximum }));

export const AnswerBody = Type.Object({
  selected_index: Type.Integer({ minimum: -1, maximum: 3, description: "-1 is a timeout" }),
  timer_duration_ms: milliseconds(300_000),
  time_taken_ms: milliseconds(300_000),
});

/** Defects of a question. */
export const ReportBody = Type.Object({
  reason: Type.Enum(["wrong_answer", "ambiguous", "outdated", "offensive", "typo", "other"]),
  comment: Type.String({ maxLength: 500, default: "" }),
});

export const Report = Type.Object({
  report: Type.Object(
    {
      question_id: Type.Integer(),
      reason: ReportBody.properties.reason,
      comment: Type.String(),
      created_at: Type.String({ format: "date-time" }),
    },
    { title: "QuestionReport" },
  ),
});

export const DrawQuery = Type.Object({
  categories: Type.Optional(Type.String({ maxLength: 1_024, description: "comma-separated" })),
  category: Type.Optional(Type.String({ maxLength: 64 })),
  difficulty: Type.Enum([...difficulties, "auto"], { default: "auto" }),
  prompt: Type.Optional(Type.String({ maxLength: 500, ...promptRule })),
  retry: Type.Boolean({ default: false, description: "a question last answered incorrectly" }),
  blend: Type.Boolean({ default: false, description: "a different category each time" }),
});

/** Without the answer (document 2, Question, play form). */
export const PlayQuestion = Type.Object(
  {
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
  },
  { title: "Question" },
);

export const DrawnQuestion = Type.Object({
  question: Type.Union([
    Type.Object({ ...PlayQuestion.properties, is_retry: Type.Boolean() }),
    Type.Null(),
  ]),
});

export const AnswerReveal = Type.Object(
  {
    is_correct: Type.Boolean(),
    answer: Type.Integer({ minimum: 0, maximum: 3, description: "index of the correct choice" }),
    explanation: Type.String(),
    correct_rate: Type.Integer({ description: "percent of all answers, including this one" }),
    num_served: Type.Integer(),
    xp_gained: Type.Integer(),
    session: PlaySession,
    was_previously_wrong: Type.Boolean(),
  },
  { title: "QuestionAnswer" },
);

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

export function presentDrawn(drawn: Drawn | null): Static<typeof DrawnQuestion> {
  if (drawn === null) return { question: null };
  return { question: { ...presentPlayQuestion(drawn), is_retry: drawn.isRetry } };
}

export function presentReveal(result: PracticeResult): Static<typeof AnswerReveal> {
  return {
    is_correct: result.isCorrect,
    answer: result.answer,
    explanation: result.explanation,
    correct_rate: result.correctRate,
    num_served: result.numServed,
    xp_gained: result.xp,
    session: presentSession(result.session),
    was_previously_wrong: result.previous === "wrong",
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
