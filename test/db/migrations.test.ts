import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../db/migrate.ts";
import { createOrm, pingDatabase } from "../../db/orm.ts";
import { nextIdBlock } from "../../db/queries/ids.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { seedReference } from "../../db/seeds/reference.ts";
import { seedSample } from "../../db/seeds/sample.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const config = parseConfig({});

describe("the database", () => {
  let stores: TestStores;
  const fresh = `fresh_${process.pid}`;
  const open = (url: string) => createOrm({ DATABASE_URL: url, DATABASE_POOL: 4 });
  const freshUrl = () => withDatabase(stores.databaseUrl, fresh);

  before(async () => {
    stores = await testStores();
  });
  after(async () => {
    await withClient(withDatabase(stores.databaseUrl, "postgres"), (client) =>
      client.query(`drop database if exists ${fresh} with (force)`),
    );
    await stores.stop();
  });

  it("is created and migrated once when several instances start at once", async () => {
    const orms = await Promise.all([1, 2, 3, 4].map(() => open(freshUrl())));
    try {
      await Promise.all(orms.map((orm) => migrate(orm)));
      const [first] = orms;
      assert.ok(first);
      const runs = await rowsOf(
        first.em.fork(),
        sql<{ name: string; runs: number }>`
          select name, count(*)::int as runs from mikro_orm_migrations group by name order by name`,
      );
      assert.ok(runs.length >= 2);
      assert.ok(runs.every((row) => row.runs === 1));
    } finally {
      await Promise.all(orms.map((orm) => orm.close(true)));
    }
  });

  it("matches the entities, migrates down to nothing and up again", async () => {
    const orm = await open(freshUrl());
    try {
      await migrate(orm);
      assert.deepEqual(await orm.schema.getUpdateSchemaSQL({ safe: false }), "");
      await orm.migrator.down({ to: 0 });
      const tables = await rowsOf(
        orm.em.fork(),
        sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'
          union all select sequencename from pg_sequences where schemaname = 'public'`,
      );
      assert.ok(tables.every((table) => table.name.startsWith("mikro_orm_migrations")));
      await migrate(orm);
      assert.deepEqual(await orm.schema.getUpdateSchemaSQL({ safe: false }), "");
    } finally {
      await orm.close(true);
    }
  });

  it("is seeded identically by one start and by several at once", async () => {
    const orm = await open(stores.databaseUrl);
    const counts = () =>
      rowsOf(
        orm.em.fork(),
        sql`select (select count(*)::int from realms) as realms,
          (select count(*)::int from levels) as levels,
          (select count(*)::int from award_definitions) as awards,
          (select count(*)::int from player_stats) as players,
          (select count(*)::int from player_category_stats) as parts`,
      );
    const seed = async () => {
      await seedReference(orm.em.fork(), config);
      await seedSample(orm.em.fork(), config);
    };
    try {
      await Promise.all([seed(), seed(), seed()]);
      const expected = [{ realms: 2, levels: 12, awards: 5, players: 12, parts: 48 }];
      assert.deepEqual(await counts(), expected);
      await seed();
      assert.deepEqual(await counts(), expected);
    } finally {
      await orm.close(true);
    }
  });

  it("allocates blocks of ids that never overlap", async () => {
    const orm = await open(stores.databaseUrl);
    try {
      const blocks = await Promise.all(
        Array.from({ length: 20 }, () => nextIdBlock(orm.em.fork(), "seat_ids")),
      );
      const sorted = blocks.toSorted((a, b) => a - b);
      assert.ok(sorted.every((id, at) => at === 0 || id - (sorted[at - 1] ?? 0) >= 64));
    } finally {
      await orm.close(true);
    }
  });

  it("answers a ping, and fails in time when no server answers", async () => {
    const orm = await open(stores.databaseUrl);
    const unreachable = await open("postgres:///x?host=/nowhere&user=x");
    try {
      assert.equal(await pingDatabase(orm, 1_000), true);
      assert.equal(await pingDatabase(unreachable, 1_000), false);
    } finally {
      await Promise.all([orm.close(true), unreachable.close(true)]);
    }
  });
});
