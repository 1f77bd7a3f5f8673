import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { migrate, prepareSchema, readMigrations, revert } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations/index.ts";
import { createOrm } from "../../db/orm.ts";
import { Refusal, type Options } from "../../server/console/command.ts";
import { migrationCommands } from "../../server/console/migrations.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { prepareDatabase } from "../../server/runtime/boot/prepare.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { testDatabase, testStores, type TestStores } from "../support/stores.ts";

const names = migrations.map(({ name }) => name);
const newest = names.at(-1) ?? "";
const [earlier = ""] = names.slice(-3);
/** It makes the table of the same name. */
const table = "Migration20261128200523_fault_group_decisions";
const newer = "Migration20991231235959_of_the_future";

describe("the migrations of a database", () => {
  let stores: TestStores;
  let url: string;
  let drop: () => Promise<void>;
  let orm: MikroORM;
  const inside = (text: string) => withClient(url, (client) => client.query(text));

  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());
  beforeEach(async () => {
    ({ url, drop } = await testDatabase());
    orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
  });
  afterEach(async () => {
    await orm.close(true);
    await drop();
  });

  async function run(options: Options): Promise<unknown> {
    const config = parseConfig({ DATABASE_URL: url, REDIS_URL: stores.redisUrl });
    try {
      return await migrationCommands[0]?.run(config, options);
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      throw error;
    }
  }

  /** What a start without migrations says; null if it goes on. */
  const refusalOf = () =>
    prepareSchema(orm, { MIGRATE_ON_START: false }).then(
      () => null,
      (error: Error) => error.message,
    );

  it("names a missing database that its user may not create", async () => {
    await inside("create role guest login");
    const guest = new URL(url);
    guest.searchParams.set("user", "guest");
    guest.pathname = "/elsewhere";
    const other = await createOrm({ DATABASE_URL: guest.href, DATABASE_POOL: 2 });
    try {
      await assert.rejects(migrate(other), {
        message:
          "database elsewhere is missing and cannot be created: permission denied to create database",
      });
    } finally {
      await other.close(true);
      await inside("drop role guest");
    }
  });

  const clear = () => inside("drop schema public cascade; create schema public");
  const states: {
    state: string;
    make: () => Promise<unknown>;
    applied: number;
    isNewer?: boolean;
  }[] = [
    {
      state: "missing",
      make: async () => {
        await drop();
        drop = async () => {};
      },
      applied: 0,
    },
    { state: "empty", make: clear, applied: 0 },
    {
      state: "of an earlier release",
      make: () => revert(orm, earlier),
      applied: names.length - 2,
    },
    { state: "of this release", make: async () => {}, applied: names.length },
    {
      state: "of the next release",
      make: () => inside(`insert into mikro_orm_migrations (name) values ('${newer}')`),
      applied: names.length,
      isNewer: true,
    },
  ];

  for (const { state, make, applied: count, isNewer = false } of states)
    it(`are told apart when it is ${state}, without a change`, async () => {
      await make();
      const num = { num_applied: count, num_unknown: isNewer ? 1 : 0 };
      const missing = names.slice(count);
      const [first] = missing;
      const { applied, pending, unknown } = await readMigrations(orm);
      assert.deepEqual(
        applied.map(({ name }) => name),
        names.slice(0, count),
      );
      assert.deepEqual([pending, unknown], [missing, isNewer ? [newer] : []]);
      assert.deepEqual(await run({ status: true }), { applied, pending, unknown });
      const check = first === undefined ? num : `migrate:pending ${missing.length}, from ${first}`;
      assert.deepEqual(await run({ check: true }), check);
      const way = "MIGRATE_ON_START is false: run `npm run console -- migrate --up`";
      const refusal =
        first === undefined ? null : `${missing.length} pending, from ${first}; ${way}`;
      assert.equal(await refusalOf(), refusal);
      assert.deepEqual(await readMigrations(orm), { applied, pending, unknown });
    });

  it("are applied and reverted by the console", async () => {
    await clear();
    assert.deepEqual(await run({ up: true }), { applied: names });
    assert.deepEqual(await run({ up: true }), { applied: [] });
    assert.deepEqual(await run({ down: true }), { reverted: [newest] });
    const reverted = names.slice(-2, -1);
    assert.deepEqual(await run({ down: true, to: earlier }), { reverted });
    assert.deepEqual(await run({ up: true }), { applied: names.slice(-2) });
    assert.equal(await refusalOf(), null);
  });

  it("end a start in one line while they are left to the console", async () => {
    await revert(orm);
    const config = parseConfig({ DATABASE_URL: url, MIGRATE_ON_START: "false" });
    await assert.rejects(prepareDatabase(config), {
      name: "StartError",
      message: new RegExp(
        `^the database .* cannot be prepared: 1 pending, from ${newest}; [^\n]*$`,
      ),
    });
    await prepareDatabase({ ...config, APP_ENV: "production", MIGRATE_ON_START: true });
    assert.equal(await refusalOf(), null);
  });

  it("are not touched by options that exclude each other, or that this release cannot follow", async () => {
    for (const options of [{}, { up: true, down: true }, { status: true, to: earlier }] as const)
      assert.match(String(await run(options)), /^migrate:one_action /);
    assert.match(String(await run({ down: true, to: "nothing" })), /^migrate:not_applied nothing/);
    await inside(`insert into mikro_orm_migrations (name) values ('${newer}')`);
    assert.match(String(await run({ down: true })), new RegExp(`^migrate:unknown .*${newer}$`));
    assert.deepEqual((await readMigrations(orm)).pending, []);
  });

  it("say which of them failed, and keep those before it", async () => {
    const [before = ""] = names.slice(names.indexOf(table) - 2);
    await revert(orm, before);
    await inside(`create table fault_group_decisions (id int)`);
    await assert.rejects(migrate(orm), {
      message: new RegExp(`^${table}: .*already exists`, "s"),
    });
    const { pending } = await readMigrations(orm);
    assert.equal(pending[0], table);
  });
});
