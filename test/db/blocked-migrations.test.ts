import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Migration } from "@mikro-orm/migrations";
import type { MikroORM } from "@mikro-orm/postgresql";
import pg from "pg";
import { pino } from "pino";
import { advisoryLocks } from "../../db/advisory-locks.ts";
import { ConcurrentIndex } from "../../db/concurrent-index.ts";
import { migrate, readMigrations, revert } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { silentLogger, type Logger } from "../../server/platform/log/logger.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/stores.ts";

class Plain extends Migration {
  override name = "Plain";
  override up(): void {
    this.addSql(`alter table "things" add "note" text null;`);
  }
  override down(): void {
    this.addSql(`alter table "things" drop column "note";`);
  }
}

class Indexed extends ConcurrentIndex {
  override name = "Indexed";
  protected readonly indexName = "things_id_index";
  protected readonly on = "things (id)";
}

/** Builds of a unique index fail on rows that are equal. */
class Unique extends Indexed {
  override name = "Unique";
  protected override readonly isUnique = true;
}

let database: Awaited<ReturnType<typeof testDatabase>>;
/** Reads the table in a transaction that stays open, as a backup does. */
let backup: pg.Client;
/** A running release. */
let requests: pg.Client;
const opened: MikroORM[] = [];

const connect = async (name: string) => {
  const client = new pg.Client({
    ...parseDatabaseUrl(database.url),
    application_name: name,
  });
  await client.connect();
  return client;
};
const open = async (...migrationClasses: (typeof Plain | typeof Indexed)[]) => {
  const config = { DATABASE_URL: database.url, DATABASE_POOL: 2 };
  const orm = await createOrm(config, silentLogger, { migrationClasses });
  opened.push(orm);
  return orm;
};

async function freshTable(): Promise<void> {
  await requests.query("drop table if exists things");
  await requests.query("create table things (id int)");
  await requests.query("insert into things values (1)");
  await requests.query(
    "delete from mikro_orm_migrations where name in ('Plain', 'Indexed', 'Unique')",
  );
}

const holds = async () => {
  await backup.query("begin isolation level repeatable read");
  await backup.query("select * from things");
};

/** The longest time that a request took, asked one after the other until the end. */
async function slowestUntil(ended: Promise<unknown>): Promise<number> {
  let isOver = false;
  void ended.finally(() => void (isOver = true)).catch(() => {});
  let slowest = 0;
  while (!isOver) {
    const from = performance.now();
    await requests.query("select * from things");
    slowest = Math.max(slowest, performance.now() - from);
    await pause(5);
  }
  return slowest;
}

const waits = () =>
  eventually("the migration waits for a lock", async () => {
    const { rowCount } = await requests.query(
      `select 1 from pg_stat_activity where application_name = 'emberline migration'
        and datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  });

/** A log that keeps the facts of its warnings. */
function recordingLog(): [log: Logger, warnings: unknown[]] {
  const warnings: unknown[] = [];
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      const { event, migration, pid } = JSON.parse(line.toString("utf8")) as Record<
        string,
        unknown
      >;
      warnings.push({ event, migration, pid });
      done();
    },
  });
  return [pino({ base: null }, stream), warnings];
}

describe("a migration beside an open transaction", () => {
  before(async () => {
    database = await testDatabase();
    backup = await connect("pg_dump");
    requests = await connect("request");
  });
  after(async () => {
    await Promise.all([backup.end(), requests.end(), ...opened.map((orm) => orm.close(true))]);
    await database.drop();
  });

  describe("in a transaction", () => {
    it("lets requests wait less than 3 s, and goes on when the transaction ends", async () => {
      await freshTable();
      await holds();
      const orm = await open(Plain);
      const [log, warnings] = recordingLog();
      const ended = migrate(orm, { log, limits: { pauseMs: 300 } });
      const slowest = slowestUntil(ended);
      await eventually("it is tried a second time", () => warnings.length === 2);
      await backup.query("commit");
      assert.deepEqual(await ended, ["Plain"]);
      assert.ok((await slowest) < 3_000, `${await slowest} ms`);
      assert.deepEqual((await readMigrations(orm)).pending, []);
    });

    it("fails in the end with its name and the session that it waits for", async () => {
      await freshTable();
      await holds();
      const { rows } = await backup.query<{ pid: number }>("select pg_backend_pid() as pid");
      const { pid = 0 } = rows[0] ?? {};
      const orm = await open(Plain);
      const [log, warnings] = recordingLog();
      await assert.rejects(migrate(orm, { log, limits: { blockedMs: 0 } }), {
        message: new RegExp(
          `^Plain: .*lock timeout; it waited for pid ${pid} \\(pg_dump, query since \\d{4}-.*Z\\)$`,
          "s",
        ),
      });
      assert.deepEqual(warnings, [{ event: "migration_blocked", migration: "Plain", pid }]);
      await backup.query("commit");
      assert.deepEqual((await readMigrations(orm)).pending, ["Plain"]);
      assert.deepEqual(await migrate(orm), ["Plain"]);
    });

    it("gives up waiting for another instance that migrates", async () => {
      const orm = await open(Plain);
      await backup.query("select pg_advisory_lock($1)", [advisoryLocks.migrations]);
      await assert.rejects(
        migrate(orm, { limits: { turnMs: 200 } }),
        /another instance still migrates after 0\.2 s/,
      );
      await backup.query("select pg_advisory_unlock($1)", [advisoryLocks.migrations]);
    });
  });
  describe("that makes an index", () => {
    it("builds an index beside it without holding up writes, also when several instances start", async () => {
      await freshTable();
      await holds();
      const [first, second] = await Promise.all([open(Indexed), open(Indexed)]);
      const ended = Promise.all([migrate(first), migrate(second)]);
      await waits();
      await requests.query("insert into things values (2)");
      await backup.query("commit");
      const runs = await ended;
      assert.deepEqual(runs.flat(), ["Indexed"]);
      assert.deepEqual(await revert(first), ["Indexed"]);
      const { rowCount } = await requests.query(
        "select 1 from pg_class where relname = 'things_id_index'",
      );
      assert.equal(rowCount, 0);
    });

    it("replaces an index whose build has failed", async () => {
      await freshTable();
      await requests.query("insert into things values (1)");
      const orm = await open(Unique);
      await assert.rejects(migrate(orm), /^Error: Unique: .*could not create unique index/s);
      const valid = async () =>
        (
          await requests.query<{ isValid: boolean }>(
            `select indisvalid as "isValid" from pg_index
            where indexrelid = to_regclass('things_id_index')`,
          )
        ).rows.map(({ isValid }) => isValid);
      assert.deepEqual(await valid(), [false]);
      await requests.query("truncate things");
      assert.deepEqual(await migrate(orm), ["Unique"]);
      assert.deepEqual(await valid(), [true]);
    });
  });
});
