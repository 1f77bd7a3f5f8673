import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { migrate } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations/index.ts";
import { createOrm } from "../../db/orm.ts";
import { listCollisions } from "../../db/queries/accounts/address-collisions.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { skeletonOf } from "../../server/platform/text/skeletons.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { fc } from "../support/seed.ts";

describe("a database of an earlier version", () => {
  let stores: TestStores;
  let orm: MikroORM;
  const name = `earlier_${process.pid}`;
  const admin = (text: string) =>
    withClient(withDatabase(stores.databaseUrl, "postgres"), (client) => client.query(text));

  before(async () => {
    stores = await testStores();
    orm = await createOrm({
      DATABASE_URL: withDatabase(stores.databaseUrl, name),
      DATABASE_POOL: 4,
    });
  });
  after(async () => {
    await orm.close(true);
    await admin(`drop database if exists ${name} with (force)`);
    await stores.stop();
  });

  /** The schema before the migration of this name, without rows. */
  async function earlierThan(migration: string): Promise<void> {
    const at = migrations.findIndex((one) => one.name.endsWith(migration));
    const last = migrations[at - 1]?.name;
    assert.ok(last, migration);
    await migrate(orm);
    await rowsOf(orm.em.fork(), sql`truncate players, teams, subscribers cascade`);
    await orm.migrator.down({ to: last });
  }

  it("keeps its names, and reserves each skeleton for its oldest name", async () => {
    await earlierThan("name_skeletons");
    const em = orm.em.fork();
    const names = ["Ian_0", "lan_O", "Mary", "rnary", "mary_", "Bob"];
    for (const one of names)
      await rowsOf(
        em,
        sql`insert into players (name, name_key, is_guest, channels, realm)
          values (${one}, ${one.toLowerCase()}, true, '{}', 'default')`,
      );
    for (const [n, one] of ["coco", "сосо", "Fire"].entries())
      await rowsOf(
        em,
        sql`insert into teams (name, name_key, join_code, owner_id, created_at)
          values (${one}, ${one.toLowerCase()}, ${`ABCDEFG${n}`}, 1, now())`,
      );
    await migrate(orm);
    const players = await rowsOf(
      em,
      sql`select name, name_skeleton as skeleton from players order by id`,
    );
    assert.deepEqual(players, [
      { name: "Ian_0", skeleton: "lan_o" },
      { name: "lan_O", skeleton: null },
      { name: "Mary", skeleton: "mary" },
      { name: "rnary", skeleton: "rnary" },
      { name: "mary_", skeleton: "rnary_" },
      { name: "Bob", skeleton: "bob" },
    ]);
    const teams = await rowsOf(
      em,
      sql`select name, name_skeleton as skeleton from teams order by id`,
    );
    assert.deepEqual(teams, [
      { name: "coco", skeleton: "coco" },
      { name: "сосо", skeleton: null },
      { name: "Fire", skeleton: skeletonOf("Fire") },
    ]);
  });

  it("gets the same user name skeletons as the service creates", async () => {
    const inSql = (one: string) =>
      one.replace(/0/g, "O").replace(/[1I]/g, "l").replace(/m/g, "rn").toLowerCase();
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_]{3,20}$/), (one) => {
        assert.equal(skeletonOf(one), inSql(one));
      }),
    );
  });

  it("stores every address in one normal form, and links a mailbox to one account only", async () => {
    await earlierThan("address_forms");
    const em = orm.em.fork();
    const dump = readFileSync(new URL("./dumps/addresses.sql", import.meta.url), "utf8");
    await withClient(withDatabase(stores.databaseUrl, name), (client) => client.query(dump));
    await migrate(orm);
    const accounts = await rowsOf(
      em,
      sql<{ name: string; email: string | null; key: string | null; is_verified: boolean }>`
        select name, email, email_key as key, email_verified_at is not null as is_verified
        from players order by id`,
    );
    const rows = accounts.map((one) => [one.name, one.email, one.key, one.is_verified]);
    assert.deepEqual(rows, [
      ["wide", "ada@example.com", "ada@example.com", false],
      ["idn", "bob@xn--bcher-kva.example", "bob@xn--bcher-kva.example", true],
      ["plain", "plain@example.com", "plain@example.com", false],
      ["older", "eve@example.com", "eve@example.com", false],
      ["younger", "eve＠example.com", null, false],
      ["unproven", "Max@example.com", null, false],
      ["proven", "max@example.com", "max@example.com", true],
      ["closed", "tri@example.com", null, false],
      ["second", "tri@example.com", "tri@example.com", false],
      ["third", "tri@example。com", null, false],
      ["odd", "no address", "no address", false],
      ["social", null, null, false],
    ]);
    const listed = await listCollisions(em, 100);
    assert.deepEqual(
      listed.map((one) => [one.name, one.typed, one.address, one.keptName, one.isNotified]),
      [
        ["younger", "eve＠example.com", "eve@example.com", "older", false],
        ["unproven", "Max@example.com", "max@example.com", "proven", false],
        ["closed", "tri@example.com", "tri@example.com", "second", false],
        ["third", "tri@example。com", "tri@example.com", "second", false],
      ],
    );
    const open = await rowsOf(em, sql`select player_id as id from email_verifications`);
    assert.deepEqual(open, [{ id: 111 }], "a link to the lost address is void");
    const list = await rowsOf(
      em,
      sql`select email, email_key as key, unsubscribed_at is not null as has_left from subscribers order by id`,
    );
    assert.deepEqual(list, [
      { email: "news@example.com", key: "news@example.com", has_left: false },
      { email: "list@example.com", key: "list@example.com", has_left: true },
    ]);
  });

  it("restores lost addresses on the way down, unless another account has them", async () => {
    const em = orm.em.fork();
    const last = migrations[migrations.findIndex((one) => one.name.endsWith("address_forms")) - 1];
    await orm.migrator.down({ to: last?.name ?? "" });
    const keys = await rowsOf(
      em,
      sql<{
        key: string | null;
      }>`select email_key as key from players where id in (112, 121) order by id`,
    );
    assert.deepEqual(keys, [{ key: "eve＠example.com" }, { key: null }]);
    await migrate(orm);
    assert.deepEqual(
      (await listCollisions(em, 100)).map((one) => one.name),
      ["younger", "third"],
    );
  });
});
