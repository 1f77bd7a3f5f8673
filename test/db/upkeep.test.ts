import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { purgeAccounts } from "../../db/queries/accounts.ts";
import { countWaiting, listSpentPictures, listUnjudged } from "../../db/queries/avatar-reviews.ts";
import { releaseQuestions } from "../../db/queries/challenges.ts";
import { purgeCredentials } from "../../db/queries/credential-requests.ts";
import {
  expireMessages,
  listStranded,
  purgeMessages,
  purgeUnverified,
} from "../../db/queries/messages.ts";
import { purgeCodes } from "../../db/queries/phone-codes.ts";
import { endIdleSessions } from "../../db/queries/play-sessions.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { endStaleRuns } from "../../db/queries/runs.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const now = new Date("2026-03-01T12:00:00Z");
const before30 = new Date("2026-01-30T12:00:00Z");
const limit = 10;

/** What the periodic jobs do to tables that grow with players and time. */
const upkeep: Readonly<Record<string, (em: EntityManager) => Promise<unknown>>> = {
  "messages that are too late": (em) => expireMessages(em, { now, leaseStart: now }),
  "messages whose job was lost": (em) => listStranded(em, { before: now, limit }),
  "old messages": (em) => purgeMessages(em, { before: before30, maxKept: 1 }),
  "addresses nobody verified": (em) => purgeUnverified(em, { now, before: before30 }),
  "ended credentials": (em) => purgeCredentials(em, { now, before: before30 }),
  "ended phone codes": (em) => purgeCodes(em, now),
  "accounts closed long ago": (em) => purgeAccounts(em, { before: before30, now, limit }),
  "uploads whose job was lost": (em) => listUnjudged(em, { since: before30, before: now, limit }),
  "pictures that wait for a person": (em) => countWaiting(em, limit),
  "idle play sessions": (em) => endIdleSessions(em, { idleSince: now, limit }),
  "forgotten endless runs": (em) => endStaleRuns(em, { before: now, now, limit }),
  "runs of challenges that are over": (em) =>
    releaseQuestions(em, { before: "2026-02-20", keep: 20, now, since: before30, live: [] }),
};

/** Rows of each table of which nothing is due. */
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
  // Nobody decided about them while they were kept.
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
  let stores: TestStores;
  let orm: MikroORM;
  before(async () => {
    stores = await testStores();
    orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 1 });
    const em = orm.em.fork();
    for (const statement of rest) await rowsOf(em, statement);
    await rowsOf(em, sql`analyze`);
  });
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  for (const [what, tend] of Object.entries(upkeep))
    it(`looks for ${what} without reading the rest`, async () => {
      const read = await orm.em.fork().transactional(async (em) => {
        const rows = await countReadBy(em, () => tend(em));
        return [...rows].filter(([, read]) => read > fewRows);
      });
      assert.deepEqual(read, []);
    });

  it("looks for pictures nobody needs among those of a few players, and reads no others", async () => {
    const size = 1_000;
    const slice = { after: count / 2, upTo: count / 2 + size };
    const limits = { unfinishedBefore: now, rejectedBefore: before30, keptEach: 5, limit };
    const rows = await orm.em
      .fork()
      .transactional((em) => countReadBy(em, () => listSpentPictures(em, slice, limits)));
    assert.ok((rows.get("avatar_uploads") ?? 0) >= size);
    assert.deepEqual(
      [...rows].filter(([, read]) => read > size + fewRows),
      [],
    );
  });
});

/** Table -> rows of it that were read. */
async function countReadBy(
  em: EntityManager,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const earlier = await countRead(em);
  await work();
  const all = await countRead(em);
  return new Map([...all].map(([name, rows]) => [name, rows - (earlier.get(name) ?? 0)]));
}

/** Table -> rows of it this session has read. */
async function countRead(em: EntityManager): Promise<Map<string, number>> {
  const rows = await rowsOf(
    em,
    sql<{ name: string; rows: number }>`
      select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables`,
  );
  return new Map(rows.map((row) => [row.name, row.rows]));
}
