import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import type { App } from "../../../../support/app.ts";

/** Totals of a player for a leaderboard of plain arrays; times in milliseconds. */
export interface Totals {
  id: number;
  name: string;
  score: number;
  scoreAt: number;
  xp: number;
  xpAt: number;
  streak: number;
  streakAt: number;
  answers: number;
  correct: number;
}

export type Tab = "score" | "accuracy" | "streak" | "xp";
export const tabs: readonly Tab[] = ["score", "accuracy", "streak", "xp"];

export const accuracyOf = ({ answers, correct }: Pick<Totals, "answers" | "correct">) =>
  answers === 0 ? 0 : Math.round((100 * correct) / answers);

export function valueOf(row: Totals, tab: Tab): number {
  return tab === "accuracy" ? accuracyOf(row) : row[tab];
}

/** Order of equal values (LB-01). */
function tieOf(row: Totals, tab: Tab): number {
  if (tab === "accuracy") return -row.answers;
  return { score: row.scoreAt, xp: row.xpAt, streak: row.streakAt }[tab];
}

export interface Ranked {
  id: number;
  name: string;
  rank: number;
  value: number;
}

/** Standard competition ranking: 1, 2, 2, 4. */
export function rankAll(all: readonly Totals[], tab: Tab): Ranked[] {
  const sorted = all
    .filter(({ answers }) => answers > 0)
    .toSorted(
      (a, b) => valueOf(b, tab) - valueOf(a, tab) || tieOf(a, tab) - tieOf(b, tab) || a.id - b.id,
    );
  return sorted.map((row) => ({
    id: row.id,
    name: row.name,
    value: valueOf(row, tab),
    rank: 1 + sorted.filter((other) => valueOf(other, tab) > valueOf(row, tab)).length,
  }));
}

/** Writes totals like the code that records answers. */
export async function writeTotals(app: App, list: readonly Totals[]): Promise<void> {
  await rowsOf(
    app.deps.orm.em.fork(),
    sql`insert into player_stats as s (player_id, total_score, score_at, total_xp, xp_at, best_streak,
        streak_at, total_answers, total_correct)
      select id, score, to_timestamp("scoreAt" / 1000.0), xp, to_timestamp("xpAt" / 1000.0), streak,
        to_timestamp("streakAt" / 1000.0), answers, correct
      from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as x(id int, score bigint,
        "scoreAt" float8, xp int, "xpAt" float8, streak int, "streakAt" float8, answers int, correct int)
      on conflict (player_id) do update set total_score = excluded.total_score,
        score_at = excluded.score_at, total_xp = excluded.total_xp, xp_at = excluded.xp_at,
        best_streak = excluded.best_streak, streak_at = excluded.streak_at,
        total_answers = excluded.total_answers, total_correct = excluded.total_correct`,
  );
}

/** Players without a session: cheap, and with names chosen by the test. */
export async function makePlayers(app: App, names: readonly string[]): Promise<number[]> {
  const rows = await rowsOf<{ id: number }>(
    app.deps.orm.em.fork(),
    sql`insert into players (name, name_key, is_guest, realm)
      select name, lower(name), true, 'default' from unnest(${[...names]}::text[]) with ordinality
        as x(name, n) order by n returning id`,
  );
  return rows.map(({ id }) => id);
}
