import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { verifyPhone } from "../../db/queries/accounts/phone-codes.ts";
import { listClosedSince, listUpgradedSince } from "../../db/queries/accounts/players.ts";
import type { ListFilter } from "../../db/queries/archive/codex-filters.ts";
import { listEntities, searchEntities } from "../../db/queries/archive/codex-list.ts";
import { findByUpstreamKey, listUpstreamIds } from "../../db/queries/archive/codex-read.ts";
import { isClaimFree, listTakenIcons } from "../../db/queries/avatars/avatars.ts";
import {
  readPendingChanges,
  requeueChanges,
} from "../../db/queries/leaderboards/leaderboard-changes.ts";
import { listWordBests } from "../../db/queries/leaderboards/leaderboard-entries.ts";
import { searchPlayers } from "../../db/queries/leaderboards/leaderboard-rows.ts";
import { readStanding } from "../../db/queries/questions/given-answers.ts";
import { drawQuestions } from "../../db/queries/questions/question-draws.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { endSession, findSession, openSession } from "../../db/queries/runs/play-sessions.ts";
import { endEndlessRun, listChallengeRunsOf } from "../../db/queries/runs/runs.ts";
import { findGrantNamed } from "../../db/queries/wallet/awards.ts";
import { findByRef } from "../../db/queries/wallet/wallets.ts";
import { eventually } from "../support/eventually.ts";
import { filledDatabase, type FilledDatabase } from "./filled-database.ts";

const now = new Date("2026-03-01T12:00:00Z");
const playerId = 7;
const count = 20_000;
const type = { gameId: 1, branchId: 1, type: "item" };
const all = { after: 0, limit: 1_000 };
const firstPage = { cursor: 0, limit: 20, isCounted: true };
const tagged: ListFilter = { field: "tags", path: [], op: "eq", value: "rare" };
const draw = {
  ...({ pool: "public", category: "science", difficulty: "easy", promptHash: null } as const),
  ...{ count: 1, excludeIds: [], preferUnseenBy: [playerId], freshOnly: true },
};

/** Indexes with the hot statements that rely on them. */
const users: Readonly<Record<string, Readonly<Record<string, (em: EntityManager) => unknown>>>> = {
  play_sessions_open_unique: {
    "find the session of a player": (em) => findSession(em, { playerId, idleSince: now }),
    "lock or open it": (em) => openSession(em, { playerId, now, idleSince: now }),
    "end it": (em) => endSession(em, { playerId, now, idleSince: now }),
    "judge an answer": (em) =>
      readStanding(em, { playerId, questionId: 1, ref: null, idleSince: now }),
  },
  question_answers_ref_unique: {
    "find a repeated answer": (em) =>
      readStanding(em, { playerId, questionId: 1, ref: "a7", idleSince: now }),
  },
  questions_draw_index: { "draw a question": (em) => drawQuestions(em, draw) },
  award_grants_ref_unique: { "find a repeated award": (em) => findGrantNamed(em, "g7") },
  ledger_entries_ref_unique: {
    "find a repeated movement": (em) =>
      findByRef(em, { playerId, currency: "ingots", source: "shop", refType: "order", refId: "7" }),
  },
  runs_challenge_unique: {
    "find runs of challenges": (em) => listChallengeRunsOf(em, playerId, [1]),
  },
  runs_endless_unique: { "end the endless run": (em) => endEndlessRun(em, playerId, now) },
  board_changes_waiting_index: {
    "read the changes that wait": (em) => readPendingChanges(em, 10),
  },
  board_changes_batch_index: { "requeue changes": (em) => requeueChanges(em, count - 20, count) },
  word_results_date_index: {
    "list the results of a day": (em) =>
      listWordBests(em, { mode: "daily", from: "2026-02-01", to: "2026-02-01" }, all),
  },
  word_results_created_index: {
    "list the latest random results": (em) =>
      listWordBests(em, { mode: "random", since: now.getTime() }, all),
  },
  players_name_key_trgm_index: {
    // On a busy machine a search may be stopped by its time limit before it has begun.
    "search the leaderboard": (em) =>
      eventually("a search ends in time", async () => {
        return (await searchPlayers(em, "er4711", { tab: "score", limit: 10, offset: 0 })) !== null;
      }),
  },
  players_upgraded_index: {
    "list upgraded guests": (em) => listUpgradedSince(em, { since: now, limit: 10 }),
  },
  players_closed_index: {
    "list closed accounts": (em) => listClosedSince(em, { since: now, limit: 10 }),
  },
  players_verified_phone_unique: {
    "verify a number": (em) => verifyPhone(em, { playerId, phone: "+4912", now, by: "s" }),
  },
  players_avatar_claim_unique: {
    "look whether a combination is free": (em) =>
      isClaimFree(em, playerId, { icon: "a/i7", color: "red", bg: "blue" }),
    "list taken icons": (em) => listTakenIcons(em),
  },
  codex_head_list_index: {
    "list entities of a type": (em) => listEntities(em, type, { ...firstPage, filters: [] }),
    "list them by a value": (em) =>
      listEntities(em, type, {
        ...firstPage,
        filters: [{ field: "data", path: ["level"], op: "gte", value: "3" }],
      }),
  },
  codex_head_tags_index: {
    "list entities with a tag": (em) => listEntities(em, type, { ...firstPage, filters: [tagged] }),
  },
  codex_head_search_index: {
    "search entities": (em) => searchEntities(em, type, ["n4711"]),
  },
  codex_upstream_keys_lower_index: {
    "find an entity by its upstream key": (em) =>
      findByUpstreamKey(em, 1, { branchId: 1, ord: 1 }, "KEY7"),
    "list the upstream keys of a game": async (em) => {
      for await (const { name } of listUpstreamIds(em, "g")) if (name === "key7") break;
    },
  },
};
const each = sql.raw(`generate_series(1, ${count}) i`);
/** Rows per table, of which few match. */
const rows = [
  sql`insert into players (id, name, name_key, is_guest, realm, deleted_at, purged_at, avatar_icon, avatar_color, avatar_bg)
    select i, 'Player' || i, 'player' || i, false, 'default', case when i < 20 then ${now}::timestamptz end,
      null, case when i < 100 then 'a/i' || i end, 'red', 'blue' from ${each}`,
  sql`insert into player_stats (player_id, total_answers) select i, 1 from ${each}`,
  sql`insert into play_sessions (player_id, created_at, updated_at, ended_at)
    select case when i < 4000 then 7 else i end, ${now}, ${now}, case when i < ${count} - 10 then ${now}::timestamptz end
    from ${each}`,
  sql`insert into questions (id, category, difficulty, question, choices, correct_index, explanation,
      estimated_rate, pool, text_key, source)
    select i, (array['science', 'history', 'music', 'art'])[i % 4 + 1], (array['easy', 'hard', 'medium'])[i % 3 + 1],
      'q', '{}', 0, '', 50, 'public', 't' || i, 'bank' from ${each}`,
  sql`insert into question_answers (player_id, question_id, selected_index, is_correct, source, ref)
    select 1 + i % 500, i, 0, true, 'practice', case when i < 50 then 'a' || i end from ${each}`,
  sql`insert into award_grants (entry_id, player_id, award_id, game, ember_value, repeatable, granted_at, ref)
    select i, i, 'a', 'g', 1, true, ${now}, case when i < 50 then 'g' || i end from ${each}`,
  sql`insert into ledger_entries (player_id, currency, seq, amount, source, ref_type, ref_id, balance, total, created_at)
    select 7, 'ingots', i, 1, 'shop', 'order', i, 1, 1, ${now} from ${each}`,
  sql`insert into challenges (id, kind, date, question_ids, created_at)
    values (1, 'gauntlet', '2026-02-01', '{}', ${now})`,
  sql`insert into runs (player_id, mode, challenge_id, question_ids, shown_at, touched_at, created_at, is_finished)
    select i, 'gauntlet', 1, '{}'::int[], now(), now(), now(), true from ${each}
    union all select 7, 'endless', null, '{}'::int[], now(), now(), now(), true from ${each}
    union all select i, 'endless', null, '{}'::int[], now(), now(), now(), false from generate_series(1, 50) i`,
  sql`insert into board_changes (kind, subject_id, batch)
    select 'player', i, case when i < ${count} - 10 then i end from ${each}`,
  sql`insert into board_state (id, batch) values (1, ${count}) on conflict (id) do update set batch = excluded.batch`,
  sql`insert into word_results (player_id, mode, score, level, words_found, blocks_dropped, time_taken, time_cs,
      date, completed, created_at)
    select i, (array['daily', 'random'])[i % 2 + 1], 1, 1, 1, 1, '0:01', 1, date '2020-01-01' + i % 2500, true,
      '2020-01-01'::timestamptz + i * interval '1 hour' from ${each}`,
  sql`insert into codex_games (id, slug, display_name) values (1, 'g', 'G')`,
  sql`insert into codex_branches (id, game_id, slug) values (1, 1, 'main')`,
  sql`insert into codex_patches (id, branch_id, ord, version, version_raw, imported_at, num_added, num_changed, num_removed)
    values (1, 1, 1, '1', '1', ${now}, 0, 0, 0)`,
  sql`insert into codex_entities (id, game_id, type, key) select i, 1, 'item', 'k' || i from ${each}`,
  sql`insert into codex_documents (id, game_id, hash, body) select i, 1, lpad(i::text, 64, '0'), '{}' from ${each}`,
  sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
    select 1 + i % 4, i, case when i % 4 = 0 then 'item' else 'npc' end, i, 1, 'N',
      case when i % 400 = 0 then array['rare'] else array['common'] end, '{"level": 3}', to_tsvector('simple', 'n' || i)
    from ${each}`,
  sql`insert into codex_upstream_keys (game_id, upstream_key, entity_id) select 1, 'Key' || i, i from ${each}`,
];

describe("the indexes that frequent statements rely on", () => {
  let database: FilledDatabase;
  before(async () => {
    database = await filledDatabase(rows);
  });
  after(() => database.stop());

  for (const [index, statements] of Object.entries(users))
    for (const [what, run] of Object.entries(statements))
      it(`use ${index} to ${what}`, async () => {
        // A session with a generic plan for a prepared statement must use the index as well.
        for (const mode of ["auto", "force_generic_plan"])
          assert.ok((await countScans(index, mode, run)) > 0, mode);
      });

  /** Number of scans of an index by `run`, whose changes are rolled back. */
  async function countScans(
    index: string,
    mode: string,
    run: (em: EntityManager) => unknown,
  ): Promise<number> {
    const em = database.orm.em.fork();
    await em.begin();
    try {
      await rowsOf(em, sql`set local plan_cache_mode = ${sql.raw(mode)}`);
      await run(em);
      const [found] = await rowsOf(
        em,
        sql<{ scans: number }>`
          select pg_stat_get_xact_numscans(${index}::regclass)::int as scans`,
      );
      return found?.scans ?? 0;
    } finally {
      await em.rollback();
    }
  }
});
