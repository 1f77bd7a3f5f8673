import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { prepared, preparedRowsOf } from "../../db/prepared.ts";
import { changeRows, findRows, rowsOf } from "../../db/queries/rows.ts";
import { testStores, type TestStores } from "../support/stores.ts";

describe("a database session", () => {
  let stores: TestStores;
  let orm: MikroORM;
  before(async () => {
    stores = await testStores();
    orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 1 });
  });
  after(async () => {
    await orm.close(true);
    await stores.stop();
  });

  it("parses a prepared statement once, under one name for all its values", async () => {
    const em = orm.em.fork();
    for (const slug of ["one", "two"])
      await preparedRowsOf(em, sql`select name from realms where slug = ${slug}`);
    const statements = await rowsOf(
      em,
      sql<{ name: string; uses: number }>`select name, generic_plans + custom_plans as uses
        from pg_prepared_statements where statement like 'select name from realms%'`,
    );
    assert.equal(statements.length, 1);
    assert.match(statements[0]?.name ?? "", /^emberline_/);
    assert.equal(statements[0]?.uses, 2);
  });

  it("compiles a prepared statement of the query builder once, and binds new values at each call", async () => {
    let numBuilt = 0;
    const findSlugs = prepared((db, { slug, isOpen }: { slug: string; isOpen: boolean }) => {
      numBuilt++;
      return db
        .selectFrom("realms")
        .select("slug")
        .where("slug", "=", slug)
        .where("is_active", "=", isOpen);
    });
    const em = orm.em.fork();
    for (const slug of ["first", "second"])
      await changeRows(em, (db) => db.insertInto("realms").values({ slug, name: slug }));
    assert.deepEqual(await findSlugs(em, { slug: "first", isOpen: true }), [{ slug: "first" }]);
    assert.deepEqual(await findSlugs(em, { slug: "second", isOpen: true }), [{ slug: "second" }]);
    assert.deepEqual(await findSlugs(em, { slug: "second", isOpen: false }), []);
    assert.equal(numBuilt, 1);
  });

  it("keeps the values of a row out of its error messages", async () => {
    const em = orm.em.fork();
    const insert = () =>
      rowsOf(em, sql`insert into realms (slug, name) values ('somebody-private', 'Somebody')`);
    await insert();
    await assert.rejects(insert(), (error: Error & { code?: string }) => {
      assert.equal(error.code, "23505");
      assert.doesNotMatch(JSON.stringify({ ...error, message: error.message }), /private/);
      return true;
    });
  });

  it("begins a transaction on another connection after its connection broke", async () => {
    const killed = orm.em.fork().transactional(async (em) => {
      await rowsOf(em, sql`select pg_terminate_backend(pg_backend_pid())`);
    });
    await assert.rejects(killed);
    const answer = orm.em.fork().transactional((em) => rowsOf(em, sql`select 1 as one`));
    assert.deepEqual(await answer, [{ one: 1 }]);
  });

  it("reads every int8 column as a number, and rejects values that do not fit", async () => {
    const em = orm.em.fork();
    const columns = await rowsOf(
      em,
      sql<{ table: string; column: string }>`select table_name as table, column_name as column
        from information_schema.columns where table_schema = 'public' and data_type = 'bigint'`,
    );
    assert.ok(columns.length > 10);
    for (const { table, column } of columns) {
      const read = (digits: string) => {
        const json = `{"${column}": ${digits}}`;
        const row = sql`jsonb_populate_record(null::${sql.table(table)}, ${json}::jsonb)`;
        const value = sql<number>`${sql.ref(column)}`.as("value");
        return findRows(em, (db) => db.selectFrom(row.as("row")).select(value));
      };
      assert.deepEqual(
        await read("-9007199254740991"),
        [{ value: -Number.MAX_SAFE_INTEGER }],
        column,
      );
      await assert.rejects(read("9007199254740992"), RangeError, column);
    }
  });
});
