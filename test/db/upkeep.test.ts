import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { purgeAccounts } from "../../db/queries/accounts/accounts.ts";
import {
  countWaiting,
  listUnusedPictures,
  listPendingReview,
} from "../../db/queries/avatars/avatar-reviews.ts";
import { trimChanges } from "../../db/queries/leaderboards/leaderboard-changes.ts";
import { releaseQuestions } from "../../db/queries/runs/challenges.ts";
import { purgeCredentials } from "../../db/queries/sessions/credential-requests.ts";
import {
  expireMessages,
  listOrphaned,
  purgeMessages,
  purgeUnverified,
} from "../../db/queries/delivery/messages.ts";
import { purgeCodes } from "../../db/queries/accounts/phone-codes.ts";
import { endIdleSessions } from "../../db/queries/runs/play-sessions.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { endStaleRuns } from "../../db/queries/runs/runs.ts";
import { batchRows } from "../../db/queries/batches.ts";
import { filledDatabase, type FilledDatabase } from "./filled-database.ts";

const now = new Date("2026-03-01T12:00:00Z");
const before30 = new Date("2026-01-30T12:00:00Z");
const limit = 10;

/** Queries of the periodic jobs on tables that grow with players and time. */
const upkeep: Readonly<Record<string, (em: EntityManager) => Promise<unknown>>> = {
  "messages that are too late": (em) => expireMessages(em, { now, leaseStart: now }),
  "messages whose job was lost": (em) => listOrphaned(em, { before: now, limit }),
  "old messages": (em) => purgeMessages(em, { before: before30, maxKept: 1 }),
  "addresses nobody verified": (em) => purgeUnverified(em, { now, before: before30 }),
  "ended credentials": (em) => purgeCredentials(em, { now, before: before30 }),
  "ended phone codes": (em) => purgeCodes(em, now),
  "accounts closed long ago": (em) => purgeAccounts(em, { before: before30, now, limit }),
  "uploads whose job was lost": (em) =>
    listPendingReview(em, { since: before30, before: now, limit }),
  "pictures that wait for a person": (em) => countWaiting(em, limit),
  "idle play sessions": (em) => endIdleSessions(em, { idleSince: now, limit }),
  "forgotten endless runs": (em) => endStaleRuns(em, { before: now, now, limit }),
  "runs of challenges that are over": (em) =>
    releaseQuestions(em, { before: "2026-02-20", keep: 20, now, since: before30, live: [] }),
};

/** Rows per table, none of which is due. */
const count = 5_000;
const each = sql.raw(`generate_series(1, ${count}) i`);
const later = new Date("2027-03-01T12:00:00Z");
const rest = [
  sql`insert into players (name, name_key, is_guest, realm)
    select 'p' || i, 'p' || i, false, 'default' from ${each}`,
  sql`insert into messages (kind, template, locale, recipient, status, created_at, expires_at)
    select 'mail', 'verify-email', 'en', 'p' || i, 'sent', ${now}, ${before30} from ${each}`,
  sql`insert into subscribers (email, email_key, verified_at, created_at, updated_at)
    select 'p' || i, 'p' || i, '2025-01-01', '2025-01-01', '2025-01-01' from ${each}`,
  sql`insert into sign_in_codes (player_id, code_hash, channel, email_key, expires_at, window_started_at)
    select i, '', 'email', '', '2025-01-01', ${now} from ${each}`,
  sql`insert into token_families (id, player_id, is_guest, realm, ends_at)
    select i, i, false, 'default', ${later} from ${each}`,
  sql`insert into avatar_uploads (player_id, status, file, selection_v, created_at)
    select i, 'approved', 'f' || i, 1, ${now} from ${each}`,
  // They had no decision within their retention.
  sql`insert into avatar_uploads (player_id, status, selection_v, created_at, judged_at)
    select 1, 'queued', 1, ${now}, ${now} from ${each}`,
  sql`insert into play_sessions (player_id, created_at, updated_at, ended_at)
    select i, '2025-01-01', '2025-01-01', '2025-01-01' from ${each}`,
  sql`insert into challenges (kind, date, question_ids, created_at)
    values ('gauntlet', '2026-02-01', '{}', ${now})`,
  sql`insert into runs (player_id, mode, challenge_id, question_ids, shown_at, touched_at, created_at,
      is_finished)
    select i, 'gauntlet', (select max(id) from challenges), '{}', '2026-01-01', '2026-01-01', '2026-01-01',
      true from ${each}`,
];
const fewRows = 100;

describe("the upkeep of tables that grow", () => {
  let database: FilledDatabase;
  before(async () => {
    database = await filledDatabase(rest);
  });
  after(() => database.stop());

  for (const [what, tend] of Object.entries(upkeep))
    it(`finds ${what} without reading other rows`, async () => {
      const read = await database.orm.em.fork().transactional(async (em) => {
        const rows = await countReadBy(em, () => tend(em));
        return [...rows].filter(([, read]) => read > fewRows);
      });
      assert.deepEqual(read, []);
    });

  it("looks for unused pictures among those of a few players, and reads no others", async () => {
    const size = 1_000;
    const slice = { after: count / 2, upTo: count / 2 + size };
    const limits = { unfinishedBefore: now, rejectedBefore: before30, keptEach: 5, limit };
    const rows = await database.orm.em
      .fork()
      .transactional((em) => countReadBy(em, () => listUnusedPictures(em, slice, limits)));
    assert.ok((rows.get("avatar_uploads") ?? 0) >= size);
    assert.deepEqual(
      [...rows].filter(([, read]) => read > size + fewRows),
      [],
    );
  });
});

describe("the upkeep of a large backlog", () => {
  let database: FilledDatabase;
  const backlog = 2 * batchRows + 1;
  const due = sql.raw(`generate_series(1, ${backlog}) i`);
  before(async () => {
    database = await filledDatabase();
  });
  after(() => database.stop());

  it("deletes all expired rows, at most one batch per statement", async () => {
    const em = database.orm.em.fork();
    await rowsOf(
      em,
      sql`insert into players (id, name, name_key, is_guest, realm) values (1, 'p', 'p', true, 'default')`,
    );
    await rowsOf(
      em,
      sql`insert into token_families (id, player_id, is_guest, realm, ends_at)
        select i, 1, true, 'default', case when i = 7 then ${later}::timestamptz else ${before30} end
        from ${due}`,
    );
    await noteStatements(em, "token_families", "delete");
    await purgeCredentials(em, { now, before: now });
    assert.deepEqual(await rowsOf(em, sql`select id::int from token_families`), [{ id: 7 }]);
    assert.deepEqual(await notedStatements(em), [batchRows, batchRows, 0]);
  });

  it("ends all overdue messages, batch by batch", async () => {
    const em = database.orm.em.fork();
    await rowsOf(
      em,
      sql`insert into messages (kind, template, locale, recipient, status, sealed, created_at, expires_at)
        select 'mail', 'verify-email', 'en', 'p' || i, 'queued', '', ${now}, ${before30} from ${due}`,
    );
    await noteStatements(em, "messages", "update");
    assert.equal(await expireMessages(em, { now, leaseStart: now }), backlog);
    assert.deepEqual(await notedStatements(em), [batchRows, batchRows, 1]);
    assert.equal(await expireMessages(em, { now, leaseStart: now }), 0);
  });

  it("deletes old leaderboard changes batch by batch, too", async () => {
    const em = database.orm.em.fork();
    const kept = 100_000;
    await rowsOf(
      em,
      sql`insert into board_changes (kind, subject_id, batch)
        select 'player', 1, i from generate_series(1, ${kept + backlog}) i`,
    );
    await rowsOf(
      em,
      sql`insert into board_state (id, batch) values (1, ${kept + backlog})
      on conflict (id) do update set batch = excluded.batch`,
    );
    await noteStatements(em, "board_changes", "delete");
    await trimChanges(em);
    assert.deepEqual(await notedStatements(em), [batchRows, batchRows, 1]);
    const [left] = await rowsOf(
      em,
      sql<{ count: number; first: number; trimmed: number }>`
        select count(*)::int as count, min(batch)::int as first,
          (select trimmed::int from board_state) as trimmed from board_changes`,
    );
    assert.deepEqual(left, { count: kept, first: backlog + 1, trimmed: backlog });
  });
});

/** Records how many rows each statement of this kind touches from now on. */
async function noteStatements(
  em: EntityManager,
  table: string,
  kind: "delete" | "update",
): Promise<void> {
  const [name, event] = [sql.table(table), sql.raw(kind)];
  const note = sql.raw(
    "$$begin insert into noted (n) select count(*) from touched; return null; end$$",
  );
  await rowsOf(em, sql`drop table if exists noted cascade`);
  await rowsOf(em, sql`create table noted (id serial, n int)`);
  await rowsOf(
    em,
    sql`create or replace function note() returns trigger language plpgsql as ${note}`,
  );
  await rowsOf(
    em,
    sql`create trigger note after ${event} on ${name} referencing old table as touched
      for each statement execute function note()`,
  );
}

const notedStatements = async (em: EntityManager): Promise<number[]> =>
  (await rowsOf(em, sql<{ n: number }>`select n from noted order by id`)).map(({ n }) => n);

/** Rows read, by table. */
async function countReadBy(
  em: EntityManager,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const earlier = await countRead(em);
  await work();
  const all = await countRead(em);
  return new Map([...all].map(([name, rows]) => [name, rows - (earlier.get(name) ?? 0)]));
}

/** Rows read by this session, by table. */
async function countRead(em: EntityManager): Promise<Map<string, number>> {
  const rows = await rowsOf(
    em,
    sql<{ name: string; rows: number }>`
      select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables`,
  );
  return new Map(rows.map((row) => [row.name, row.rows]));
}
