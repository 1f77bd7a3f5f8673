import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { Config } from "../../server/platform/config/config.ts";
import { rowsOf } from "../queries/rows.ts";
import { skeletonOf } from "../../server/platform/text/skeletons.ts";

/**
 * [name, guest, score, answers, correct, best streak] of sample players on the leaderboards of a new
 * database.
 */
const players = [
  ["Ember_Ada", false, 48_200, 180, 151, 21],
  ["QuizKestrel", false, 41_950, 171, 138, 17],
  ["NorthernLynx", false, 36_400, 160, 121, 14],
  ["Guest_m4tcha7", true, 29_800, 140, 101, 12],
  ["Paperwing", false, 25_150, 122, 92, 11],
  ["SolarFox", false, 25_150, 131, 90, 9],
  ["Guest_8kq2xw5d", true, 18_700, 98, 66, 10],
  ["TidalOwl", false, 15_300, 90, 55, 8],
  ["Maple_Otter", false, 11_900, 64, 43, 7],
  ["Guest_zz71pol4", true, 8_450, 51, 30, 6],
  ["LateLantern", false, 4_600, 30, 17, 4],
  ["QuietComet", false, 1_200, 11, 5, 3],
] as const;

/** Shares by which each player's answers are divided among categories, uneven so that levels differ. */
const shares = [
  ["science", 0.4],
  ["history", 0.3],
  ["geography", 0.2],
  ["music", 0.1],
] as const;
const xpPerCorrect = 20;

/**
 * Seeds players and statistics to fill the leaderboards for a first look; never in production. They have no
 * password, so nobody can sign in as one. Existing names are skipped.
 */
export async function seedSample(
  em: EntityManager,
  config: Pick<Config, "APP_ENV" | "DEFAULT_REALM">,
): Promise<void> {
  if (config.APP_ENV === "production") return;
  const rows = players.map(([name, is_guest, score, answers, correct, streak]) => ({
    name,
    skeleton: skeletonOf(name),
    is_guest,
    score,
    answers,
    correct,
    streak,
  }));
  // Raw SQL: rows from JSON, and three inserts that read each other's results.
  await rowsOf(
    em,
    sql`with input as (
        select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(name text,
          skeleton text, is_guest boolean, score int, answers int, correct int, streak int)
      ), added as (
        insert into players (name, name_key, name_skeleton, is_guest, username, display_name, realm)
        select name, lower(name), skeleton, is_guest, case when is_guest then null else name end,
          case when is_guest then null else name end, ${config.DEFAULT_REALM}
        from input
        on conflict do nothing
        returning id, name
      ), totals as (
        insert into player_stats (player_id, total_score, total_answers, total_correct,
          best_streak, total_xp)
        select a.id, i.score, i.answers, i.correct, i.streak, i.correct * ${xpPerCorrect}::int
        from added a join input i using (name)
      )
      insert into player_category_stats (player_id, category, total_score, total_answers,
        total_correct, best_streak, xp)
      select a.id, s.category, floor(i.score * s.share), floor(i.answers * s.share),
        floor(i.correct * s.share), floor(i.streak * s.share),
        floor(i.correct * s.share) * ${xpPerCorrect}::int
      from added a join input i using (name)
      cross join jsonb_to_recordset(${JSON.stringify(shares.map(([category, share]) => ({ category, share })))}::jsonb)
        as s(category text, share float8)`,
  );
}
