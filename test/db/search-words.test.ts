import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { withDatabase } from "../../server/core/database-url.ts";
import { withClient } from "../../server/local/postgres.ts";
import { testStores, type TestStores } from "../support/stores.ts";

describe("the migration of search words", () => {
  let stores: TestStores;
  const name = `words_${process.pid}`;
  before(async () => {
    stores = await testStores();
    await withClient(stores.databaseUrl, (client) => client.query(`create database ${name}`));
  });
  after(async () => {
    await withClient(stores.databaseUrl, (client) =>
      client.query(`drop database if exists ${name} with (force)`),
    );
    await stores.stop();
  });

  it("refills what is stored, past its slices, and leaves words of ASCII alone", async () => {
    const url = withDatabase(stores.databaseUrl, name);
    const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
    try {
      await orm.migrator.up({ to: "Migration20261126112000_address_forms" });
      const em = orm.em.fork();
      await rowsOf(
        em,
        sql`insert into codex_head (branch_id, entity_id, type, document_id, patch_id, name, tags, data, search)
          select 1, n, 'item', n, 1, 'x', '{}', '{}', array_to_tsvector(case when n % 2 = 0
            then array['épée', '永恒冰霜护符'] else array['sword'] end)
          from generate_series(1, 1203) n`,
      );
      await orm.migrator.up();
      const rows = await rowsOf(
        em,
        sql<{ words: string[]; count: number }>`
          select tsvector_to_array(search) as words, count(*)::int as count from codex_head
          group by search order by 2`,
      );
      assert.deepEqual(
        rows.map(({ words, count }) => [[...words].sort(), count]),
        [
          [["epee", "冰霜护符", "恒冰霜护", "护符", "永恒冰霜", "符", "霜护符"], 601],
          [["sword"], 602],
        ],
      );
    } finally {
      await orm.close(true);
    }
  });
});
