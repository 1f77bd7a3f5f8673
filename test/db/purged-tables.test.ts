import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { purgeAccounts } from "../../db/queries/accounts/accounts.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { filledDatabase, type FilledDatabase } from "./filled-database.ts";

/**
 * Tables with rows of players that `purgeAccounts` leaves, and why they stay when the account is cleared
 * (USR-09).
 */
const kept: Readonly<Record<string, string>> = {
  avatar_uploads: "the clean-up of pictures removes the files, and later pictures are compared",
  award_grants: "part of the ledger",
  board_changes: "a number that says which row of a leaderboard is out of date",
  favorites: "a number of a question under a number of a player",
  feedback: "operators read it; a guest may have written it as well",
  ledger_entries: "the ledger is complete for ever",
  lobby_answers: "questions are rated by all answers",
  lobby_results: "the other players keep the result",
  messages: "deleted after 30 days, and an account is cleared 30 days after it was closed",
  play_sessions: "counts of a finished session",
  player_category_stats: "leaderboard rows stay",
  player_preferences: "settings of games, without a name",
  player_stats: "leaderboard rows stay",
  question_answers: "questions are rated by all answers",
  question_reports: "operators read what is wrong with a question",
  rank_snapshots: "leaderboard rows stay",
  runs: "leaderboard rows stay",
  team_members: "a team shows its members under their new names; one without others ends",
  teams: "the longest member becomes the owner; a team without others ends",
  wallet_differences: "part of the ledger",
  wallets: "part of the ledger",
  word_results: "leaderboard rows stay",
};

describe("tables with player rows", () => {
  let database: FilledDatabase;
  before(async () => {
    database = await filledDatabase();
  });
  after(() => database.stop());

  it("are cleared when an account is closed, or are listed here with the reason", async () => {
    const em = database.orm.em.fork();
    const tables = await rowsOf(
      em,
      sql<{ name: string }>`
        select table_name as name from information_schema.columns
        where table_schema = 'public'
          and column_name ~ '(^|_)(player|owner|user|account|member|subject)_ids?$'
        union
        select conrelid::regclass::text from pg_constraint
        where contype = 'f' and confrelid = 'players'::regclass`,
    );
    const names = tables.map(({ name }) => name);
    const touched = await database.orm.em.fork().transactional(async (tx) => {
      await rowsOf(tx, sql`create temporary table touched (name text)`);
      const body = sql.raw(
        "$$begin insert into touched values (tg_table_name); return null; end$$",
      );
      await rowsOf(
        tx,
        sql`create function note_touched() returns trigger language plpgsql as ${body}`,
      );
      // A statement trigger fires although no account is due.
      for (const name of names)
        await rowsOf(
          tx,
          sql`create trigger note_touched after update or delete on ${sql.table(name)}
            for each statement execute function note_touched()`,
        );
      await purgeAccounts(tx, { before: new Date(0), now: new Date(), limit: 1 });
      return rowsOf(tx, sql<{ name: string }>`select distinct name from touched`);
    });
    const cleared = new Set(touched.map(({ name }) => name));
    assert.ok(cleared.has("token_families"));
    const left = names.filter((name) => !cleared.has(name) && !(name in kept));
    assert.equal(left.join(), "", "clear them in purgeAccounts, or name them here with the reason");
    assert.deepEqual(names.filter((name) => !cleared.has(name)).sort(), Object.keys(kept).sort());
  });
});
