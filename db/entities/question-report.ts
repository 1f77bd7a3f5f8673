import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";
import { QuestionSchema } from "./question.ts";

/** A player's report of a problem with a question; a player has at most one per question, the latest. */
export const QuestionReportSchema = defineEntity({
  name: "QuestionReport",
  tableName: "question_reports",
  indexes: [
    {
      name: "question_reports_open_index",
      expression:
        "create index question_reports_open_index on question_reports (question_id) where resolved_at is null",
    },
  ],
  uniques: [{ name: "question_reports_once_unique", properties: ["question", "player"] }],
  properties: {
    id: p.integer().primary(),
    question: () => p.manyToOne(QuestionSchema).ref(),
    player: () => p.manyToOne(PlayerSchema).ref(),
    reason: p.enum(["wrong_answer", "ambiguous", "outdated", "offensive", "typo", "other"]),
    comment: p.string().length(500),
    createdAt: p.datetime(),
    /** When an operator handled the report. */
    resolvedAt: p.datetime().nullable(),
  },
});

export type QuestionReport = InferEntity<typeof QuestionReportSchema>;
