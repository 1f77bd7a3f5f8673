import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

const order = "score desc, level desc, time_cs, created_at, id";

/** One finished word game as it was sent (document 2, Word game). */
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
      // Most results have no name: they need no entry.
      name: "word_results_ref_unique",
      expression:
        "create unique index word_results_ref_unique on word_results (ref) where ref is not null",
    },
  ],
  properties: {
    id: p.integer().primary(),
    /** Row of `players`; kept after an account is closed, so without a constraint. */
    playerId: p.integer(),
    mode: p.enum(["daily", "random"]),
    score: p.integer(),
    level: p.integer(),
    wordsFound: p.integer(),
    blocksDropped: p.integer(),
    /** As sent, seconds.hundredths. */
    timeTaken: p.string().length(9),
    /** The same in hundredths of a second. */
    timeCs: p.integer(),
    timeGiven: p.string().length(9).nullable(),
    /** Of a daily puzzle. */
    date: p.date().nullable(),
    completed: p.boolean(),
    targetWords: p.array().columnType("text[]").nullable(),
    targetWordsFound: p.array().columnType("text[]").nullable(),
    /** Name of the request that brought it, when that may come again (HTTP-15). */
    ref: p.string().length(64).nullable(),
    createdAt: p.datetime(),
  },
});

export type WordResult = InferEntity<typeof WordResultSchema>;
