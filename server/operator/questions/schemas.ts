import Type, { type Static } from "typebox";
import { questionProblems } from "../../features/questions/domain/question-review.ts";
import { Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

const maxPage = 1_000;
export const QuestionBody = Type.Object({
  id: Type.Integer(),
  category: Type.String(),
  difficulty: Type.String(),
  pool: Type.Enum(["public", "competition"]),
  source: Type.String({ description: "driver that generated it" }),
  question: Type.String(),
  choices: Type.Array(Type.String()),
  correct_index: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "null for viewers while it is secret to players",
  }),
  explanation: orNull(Type.String()),
  estimated_rate: Type.Integer({ description: "percent expected to answer correctly" }),
  correct_rate: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "percent that answered correctly; null before the first answer",
  }),
  num_served: Type.Integer(),
  problems: Type.Array(Type.Enum([...questionProblems])),
  num_reports: Type.Integer({ description: "open reports of players" }),
  reports: Type.Record(Type.String(), Type.Integer(), { description: "open reports by reason" }),
  comments: Type.Array(Type.String(), { description: "texts of the latest open reports" }),
  created_at: Timestamp,
  retired_at: orNull(Timestamp),
});
export type QuestionBody = Static<typeof QuestionBody>;

export const QuestionsQuery = Type.Object({
  problem: Type.Optional(
    Type.Enum([...questionProblems], { description: "default: the first three" }),
  ),
  category: Type.Optional(Type.String({ maxLength: 64 })),
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
});
