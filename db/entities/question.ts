import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * One stored multiple-choice question. It belongs to one pool only, so that a public answer never spoils a
 * match (TRV-12).
 */
export const QuestionSchema = defineEntity({
  name: "Question",
  tableName: "questions",
  indexes: [
    { name: "questions_draw_index", properties: ["pool", "category", "difficulty", "id"] },
    { name: "questions_catalog_index", properties: ["pool", "id"] },
  ],
  properties: {
    id: p.integer().primary(),
    category: p.string().length(64),
    difficulty: p.string().length(32),
    question: p.text(),
    choices: p.array().columnType("text[]"),
    correctIndex: p.smallint(),
    explanation: p.text(),
    /** Expected percentage of correct answers (TRV-06). */
    estimatedRate: p.smallint(),
    pool: p.enum(["public", "competition"]),
    /** `normalizeText(question)`, unique: a text is stored once across both pools (TRV-03). */
    textKey: p.text().unique(),
    numServed: p.integer().default(0),
    numCorrect: p.integer().default(0),
    /** Name of the driver that generated it. */
    source: p.string().length(32),
    createdAt: p.datetime().defaultRaw("now()"),
    /** A retired question is never drawn or listed again; its answers remain. */
    retiredAt: p.datetime().nullable(),
  },
});

export type Question = InferEntity<typeof QuestionSchema>;
export type Pool = Question["pool"];
