import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { QuestionSchema } from "./question.ts";

/**
 * Links a stored question to a prompt (TRV-03). One question may fit many prompts and is often stored
 * before any of them is requested, hence a separate table.
 */
export const QuestionPromptSchema = defineEntity({
  name: "QuestionPrompt",
  tableName: "question_prompts",
  properties: {
    promptHash: p.string().length(64).primary(),
    question: () =>
      p.manyToOne(QuestionSchema).primary().ref().index("question_prompts_question_index"),
  },
});

export type QuestionPrompt = InferEntity<typeof QuestionPromptSchema>;
