import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Feedback given inside a game; anonymous without a token (document 1, System). */
export const FeedbackSchema = defineEntity({
  name: "Feedback",
  tableName: "feedback",
  uniques: [
    {
      // Most feedback has no reference and needs no index entry.
      name: "feedback_ref_unique",
      expression: "create unique index feedback_ref_unique on feedback (ref) where ref is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    kind: p.enum(["bug", "idea", "praise", "other"]),
    /** Application identifier. */
    source: p.string().length(64),
    message: p.text(),
    email: p.string().length(320).nullable(),
    route: p.string().length(512).nullable(),
    context: p.json<Record<string, unknown>>().nullable(),
    /** Set for a registered caller; a guest sets only the player (SYS-05). */
    userId: p.integer().nullable(),
    playerId: p.integer().nullable(),
    /** Idempotency reference of the request (HTTP-15). */
    ref: p.string().length(64).nullable(),
    createdAt: p.datetime().index("feedback_created_at_index"),
  },
});

export type Feedback = InferEntity<typeof FeedbackSchema>;
