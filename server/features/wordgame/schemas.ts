import Type, { type Static } from "typebox";
import "../../platform/time/time-zones.ts";
import type { WordLine } from "../../../db/queries/wordgame/word-results.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { isDate } from "../../platform/time/days.ts";
import type { Violation } from "../../platform/errors.ts";

const nullable = (type: string, options: object = {}) => ({ type: [type, "null"], ...options });
const count = (maximum: number) => Type.Integer({ minimum: 0, maximum });
const timeRule = {
  pattern: "^\\d{1,6}\\.\\d{2}$",
  description: "seconds with two decimals, as 61.25",
};
const Time = Type.String(timeRule);
const Words = Type.Optional(
  Type.Unsafe<string[] | null>(
    nullable("array", { maxItems: 500, items: { type: "string", minLength: 1, maxLength: 64 } }),
  ),
);

/** camelCase, as in document 2; bounds of WG-01. */
export const ResultBody = Type.Object({
  type: Type.Enum(["daily", "random"]),
  score: count(10_000_000),
  level: count(10_000),
  wordsFound: count(100_000),
  blocksDropped: count(1_000_000),
  timeTaken: Time,
  date: Type.Optional(
    Type.Unsafe<string | null>(
      nullable("string", { maxLength: 64, description: "YYYY-MM-DD, for a daily puzzle" }),
    ),
  ),
  timeGiven: Type.Optional(Type.Unsafe<string | null>(nullable("string", timeRule))),
  completed: Type.Optional(Type.Unsafe<boolean | null>(nullable("boolean"))),
  targetWords: Words,
  targetWordsFound: Words,
});

/** Cross-field checks of a result (WG-01). */
export function resultProblems(body: Readonly<Record<string, unknown>>): Violation[] {
  const { type, date = null, targetWords, targetWordsFound } = body;
  const problems: Violation[] = [];
  const add = (propertyPath: string, title: string) => problems.push({ propertyPath, title });
  if (type === "daily" && date === null) add("date", "is required");
  if (type === "daily" && typeof date === "string" && !isDate(date))
    add("date", "must be a date of the form YYYY-MM-DD");
  if (lengthOf(targetWordsFound) > lengthOf(targetWords))
    add("targetWordsFound", "must not be longer than targetWords");
  return problems;
}

const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0);

export const Submitted = Type.Object({
  username: Type.String(),
  rank: Type.Integer({
    description: "rank of the player's best result: daily within its date, random overall",
  }),
});

/** The handler validates `mode`, which has its own error code. */
export const BoardQuery = Type.Object({
  mode: Type.Optional(Type.String({ description: "daily or random" })),
  period: Type.Enum(["today", "this_week", "this_month", "all"], { default: "all" }),
  timezone: Type.String({ format: "time-zone", default: "UTC", description: "IANA identifier" }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  page: Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 }),
  username: Type.Optional(
    Type.String({ maxLength: 256, description: "adds this player's entry to the page" }),
  ),
});

const Row = Type.Object(
  {
    display_name: Type.String(),
    score: Type.Integer(),
    level: Type.Integer(),
    words_found: Type.Integer(),
    blocks_dropped: Type.Integer(),
    time_taken: Type.String(),
    completed: Type.Boolean(),
    created_at: Type.String({ format: "date-time" }),
    player_id: Type.Integer(),
    avatar_v: Type.Integer(),
    date: Type.Optional(Type.String({ description: "date, for daily results" })),
    rank: Type.Optional(Type.Integer({ description: "rank of the entry requested by name" })),
  },
  { title: "WordgameEntry" },
);

export const WordLeaderboard = Type.Object({
  data: Type.Array(Row),
  pagination: Type.Object({
    current_page: Type.Integer(),
    per_page: Type.Integer(),
    total: Type.Integer(),
    last_page: Type.Integer(),
  }),
});

export function presentLine(line: WordLine): Static<typeof Row> {
  return {
    display_name: line.displayName,
    score: line.score,
    level: line.level,
    words_found: line.wordsFound,
    blocks_dropped: line.blocksDropped,
    time_taken: line.timeTaken,
    completed: line.completed,
    created_at: timestamp(line.createdAtMs),
    player_id: line.playerId,
    avatar_v: line.avatarV,
    ...(line.date === null ? {} : { date: line.date }),
  };
}
