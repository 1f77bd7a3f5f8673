import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { QuestionSchema } from "./question.ts";

/**
 * One answer of a player to a stored question, in any game; the question then counts as seen (TRV-09,
 * TRV-11).
 */
export const QuestionAnswerSchema = defineEntity({
  name: "QuestionAnswer",
  tableName: "question_answers",
  indexes: [
    { name: "question_answers_seen_index", properties: ["playerId", "question"] },
    { name: "question_answers_recent_index", properties: ["playerId", "id"] },
  ],
  uniques: [
    {
      // Most answers have no reference and need no index entry.
      name: "question_answers_ref_unique",
      expression:
        "create unique index question_answers_ref_unique on question_answers (ref) where ref is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Id in `players`; no foreign key, since answers outlive closed accounts. */
    playerId: p.integer(),
    question: () => p.manyToOne(QuestionSchema).ref().index("question_answers_question_index"),
    /** 0-3, or -1 for a timeout. */
    selectedIndex: p.smallint(),
    isCorrect: p.boolean(),
    points: p.integer().default(0),
    xp: p.integer().default(0),
    source: p.enum(["practice", "run", "lobby"]),
    /** Idempotency reference of an answer that can be given only once (S38). */
    ref: p.string().length(64).nullable(),
    createdAt: p.datetime().defaultRaw("now()"),
  },
});

export type QuestionAnswer = InferEntity<typeof QuestionAnswerSchema>;
