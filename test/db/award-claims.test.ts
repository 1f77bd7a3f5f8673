import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { seedReference } from "../../db/seeds/reference.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { emptyDatabase } from "./empty-database.ts";

describe("the migration of award claims", () => {
  const { withOrm } = emptyDatabase("claims");

  it("closes the seeded awards that nobody has changed, and no others, up again after down", async () => {
    await withOrm(async (orm) => {
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
    });
  });
});
