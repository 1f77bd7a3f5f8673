import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { seedReference } from "../../db/seeds/reference.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { testStores, type TestStores } from "../support/stores.ts";

describe("the migration of award claims", () => {
  let stores: TestStores;
  const name = `claims_${process.pid}`;
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

  it("closes the seeded awards that nobody has changed, and no others, up again after down", async () => {
    const url = withDatabase(stores.databaseUrl, name);
    const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
    try {
      await orm.migrator.up({ to: "Migration20261126190000_connection_constraints" });
      const em = orm.em.fork();
      await seedReference(em, parseConfig({}));
      // As the earlier release had seeded them, and what operators made of them.
      await rowsOf(em, sql`update award_definitions set client_claimable = true`);
      await rowsOf(
        em,
        sql`update award_definitions set ember_value = 60 where award_id = 'id.award.gauntlet_complete'`,
      );
      await rowsOf(
        em,
        sql`update award_definitions set daily_limit = 3 where award_id = 'id.award.daily_complete'`,
      );
      await rowsOf(
        em,
        sql`insert into award_definitions (award_id, game, name, ember_value)
          values ('id.award.first_win', 'chess', 'First win', 50)`,
      );
      const closed = async () =>
        (
          await rowsOf<{ name: string }>(
            em,
            sql`select award_id || ' ' || game as name from award_definitions
              where not client_claimable order by 1`,
          )
        ).map((row) => row.name);
      assert.deepEqual(await closed(), []);
      await orm.migrator.up({ to: "Migration20261128200300_award_claims" });
      const expected = ["id.award.first_win trivia", "id.award.first_words wordgame"];
      assert.deepEqual(await closed(), expected);
      await orm.migrator.down({ to: "Migration20261126190000_connection_constraints" });
      await orm.migrator.up();
      assert.deepEqual(await closed(), expected);
    } finally {
      await orm.close(true);
    }
  });
});
