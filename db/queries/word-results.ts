import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { closedName } from "./board-rows.ts";
import { rowsOf } from "./rows.ts";

export interface NewWordResult {
  playerId: number;
  mode: "daily" | "random";
  score: number;
  level: number;
  wordsFound: number;
  blocksDropped: number;
  /** Seconds.hundredths, as sent. */
  timeTaken: string;
  timeGiven: string | null;
  /** Of a daily result. */
  date: string | null;
  completed: boolean;
  targetWords: readonly string[] | null;
  targetWordsFound: readonly string[] | null;
  at: Date;
  /** Names a result that may be handed in again; null = none. */
  ref: string | null;
}

const hundredths = (time: string) => Number(time.replace(".", ""));
const listOf = (words: readonly string[] | null) => (words === null ? null : [...words]);

/** Null when a result of this name is there already. */
export async function insertWordResult(
  em: EntityManager,
  result: NewWordResult,
): Promise<number | null> {
  const r = result;
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`insert into word_results (player_id, mode, score, level, words_found, blocks_dropped, time_taken,
        time_cs, time_given, date, completed, target_words, target_words_found, created_at,
        ref)
      values (${r.playerId}, ${r.mode}, ${r.score}, ${r.level}, ${r.wordsFound}, ${r.blocksDropped},
        ${r.timeTaken}, ${hundredths(r.timeTaken)}, ${r.timeGiven}, ${r.date}::date, ${r.completed},
        ${listOf(r.targetWords)}::text[], ${listOf(r.targetWordsFound)}::text[], ${r.at}, ${r.ref})
      on conflict (ref) where ref is not null do nothing returning id`,
  );
  return rows[0]?.id ?? null;
}

/** Guest name or username of an open player; null when there is none. */
export async function findPlayerName(em: EntityManager, playerId: number): Promise<string | null> {
  const rows = await rowsOf<{ name: string }>(
    em,
    sql`select name from players where id = ${playerId} and deleted_at is null`,
  );
  return rows[0]?.name ?? null;
}

/** Player of a username or guest name in its normal form; closed accounts have none (WG-04). */
export async function findPlayerByName(em: EntityManager, nameKey: string): Promise<number | null> {
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`select id from players where name_key = ${nameKey} and deleted_at is null`,
  );
  return rows[0]?.id ?? null;
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

/** What the board shows of these results. */
export async function listWordLines(
  em: EntityManager,
  ids: readonly number[],
): Promise<Map<number, WordLine>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf<WordLine>(
    em,
    sql`select w.id, w.player_id as "playerId", p.avatar_v as "avatarV",
        case when p.deleted_at is null then coalesce(p.display_name, p.name) else ${closedName} end
          as "displayName",
        w.score, w.level, w.words_found as "wordsFound", w.blocks_dropped as "blocksDropped",
        w.time_taken as "timeTaken", w.completed, w.date::text as date,
        (extract(epoch from w.created_at) * 1000)::float8 as "createdAtMs"
      from word_results w join players p on p.id = w.player_id
      where w.id = any(${[...ids]}::int[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
