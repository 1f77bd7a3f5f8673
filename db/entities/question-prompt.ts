import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { QuestionSchema } from "./question.ts";

/**
 * A stored question fits a prompt (TRV-03). A table of its own, because one question may fit many
 * prompts and is often stored before any of them is asked for.
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
