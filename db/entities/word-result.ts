import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

const order = "score desc, level desc, time_cs, created_at, id";

/** A finished word game as sent by the client (document 2, Word game). */
export const WordResultSchema = defineEntity({
  name: "WordResult",
  tableName: "word_results",
  indexes: [
    {
      name: "word_results_best_index",
      expression: `create index word_results_best_index on word_results (mode, player_id, ${order})`,
    },
    {
      name: "word_results_date_index",
      expression:
        "create index word_results_date_index on word_results (date) where mode = 'daily'",
    },
    {
      name: "word_results_created_index",
      expression:
        "create index word_results_created_index on word_results (created_at) where mode = 'random'",
    },
  ],
  uniques: [
    {
      // Most results have no reference and need no index entry.
      name: "word_results_ref_unique",
      expression:
        "create unique index word_results_ref_unique on word_results (ref) where ref is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Id in `players`; no foreign key, since results outlive closed accounts. */
    playerId: p.integer(),
    mode: p.enum(["daily", "random"]),
    score: p.integer(),
    level: p.integer(),
    wordsFound: p.integer(),
    blocksDropped: p.integer(),
    /** Seconds with two decimals, as sent. */
    timeTaken: p.string().length(9),
    /** The same time in hundredths of a second. */
    timeCs: p.integer(),
    timeGiven: p.string().length(9).nullable(),
    /** Date of a daily puzzle. */
    date: p.date().nullable(),
    completed: p.boolean(),
    targetWords: p.array().columnType("text[]").nullable(),
    targetWordsFound: p.array().columnType("text[]").nullable(),
    /** Idempotency reference of the request (HTTP-15). */
    ref: p.string().length(64).nullable(),
    createdAt: p.datetime(),
  },
});

export type WordResult = InferEntity<typeof WordResultSchema>;
