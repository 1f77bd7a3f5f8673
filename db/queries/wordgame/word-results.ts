import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { anyOf, millis, shownName } from "../expressions.ts";
import { findRow, findRows } from "../rows.ts";

export interface NewWordResult {
  playerId: number;
  mode: "daily" | "random";
  score: number;
  level: number;
  wordsFound: number;
  blocksDropped: number;
  /** Seconds with two decimals, as sent by the client. */
  timeTaken: string;
  timeGiven: string | null;
  /** Date of a daily result. */
  date: string | null;
  completed: boolean;
  targetWords: readonly string[] | null;
  targetWordsFound: readonly string[] | null;
  at: Date;
  /** Idempotency reference; null = none. */
  ref: string | null;
}

const hundredths = (time: string) => Number(time.replace(".", ""));
const listOf = (words: readonly string[] | null) => (words === null ? null : [...words]);

/** Null if a result with this reference exists. */
export async function insertWordResult(
  em: EntityManager,
  result: NewWordResult,
): Promise<number | null> {
  const r = result;
  const row = await findRow(em, (db) =>
    db
      .insertInto("word_results")
      .values({
        player_id: r.playerId,
        mode: r.mode,
        score: r.score,
        level: r.level,
        words_found: r.wordsFound,
        blocks_dropped: r.blocksDropped,
        time_taken: r.timeTaken,
        time_cs: hundredths(r.timeTaken),
        time_given: r.timeGiven,
        date: r.date,
        completed: r.completed,
        target_words: listOf(r.targetWords),
        target_words_found: listOf(r.targetWordsFound),
        created_at: r.at,
        ref: r.ref,
      })
      .onConflict((conflict) => conflict.column("ref").where("ref", "is not", null).doNothing())
      .returning("id"),
  );
  return row?.id ?? null;
}

export interface WordLine {
  id: number;
  playerId: number;
  displayName: string;
  avatarV: number;
  score: number;
  level: number;
  wordsFound: number;
  blocksDropped: number;
  timeTaken: string;
  completed: boolean;
  createdAtMs: number;
  date: string | null;
}

/** Leaderboard lines for these results. */
export async function listWordLines(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, WordLine>> {
  if (ids.length === 0) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("word_results as w")
      .innerJoin("players as p", "p.id", "w.player_id")
      .select([
        "w.id",
        "w.player_id as playerId",
        "p.avatar_v as avatarV",
        shownName(sql`coalesce(p.display_name, p.name)`).as("displayName"),
        "w.score",
        "w.level",
        "w.words_found as wordsFound",
        "w.blocks_dropped as blocksDropped",
        "w.time_taken as timeTaken",
        "w.completed",
        "w.date",
        millis("w.created_at").as("createdAtMs"),
      ])
      .where("w.id", "=", anyOf(ids, "int")),
  );
  return new Map(rows.map((row) => [row.id, row]));
}
