import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** The challenge of one category and calendar date, the same for everyone (RUN-06). */
export const ChallengeSchema = defineEntity({
  name: "Challenge",
  tableName: "challenges",
  indexes: [
    {
      name: "challenges_unreleased_index",
      expression:
        "create index challenges_unreleased_index on challenges (date) where released_at is null",
    },
  ],
  uniques: [{ name: "challenges_day_unique", properties: ["date", "kind"] }],
  properties: {
    id: p.integer().primary(),
    kind: p.enum(["daily_shuffle", "gauntlet"]),
    date: p.date(),
    /** Ids of `questions`, in play order. */
    questionIds: p.array((id) => Number(id)).columnType("int[]"),
    createdAt: p.datetime(),
    /** When its questions were moved to the public pool, as far as enough remained (TRV-12). */
    releasedAt: p.datetime().nullable(),
  },
});

export type Challenge = InferEntity<typeof ChallengeSchema>;
export type ChallengeKind = Challenge["kind"];
