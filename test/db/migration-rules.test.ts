import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Migration } from "@mikro-orm/migrations";
import { ConcurrentIndex } from "../../db/concurrent-index.ts";
import type { MigrationClass } from "../../db/migration-session.ts";
import { migrations } from "../../db/migrations/index.ts";
import { migrate, revert } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { lastRelease } from "../support/releases.ts";
import { testDatabase } from "../support/stores.ts";

/** Rules of taste, and timeouts that `db/migration-session.ts` sets. */
const unused = [
  "prefer-bigint-over-int",
  "prefer-identity",
  "prefer-robust-stmts",
  "prefer-text-field",
  "require-lock-timeout",
  "require-statement-timeout",
];

/** What breaks no running release although a rule refuses it, such as a column that the last release has not read. */
const allowed: readonly { migration: string; rule: string; reason: string }[] = [];

interface Emitted {
  name: string;
  isTransactional: boolean;
  isIndex: boolean;
  sql: string[];
}

/** The migration, with what it emits added to the list. */
function recorded(given: MigrationClass, list: Emitted[]): MigrationClass {
  const one: Emitted = { name: given.name, isTransactional: true, isIndex: false, sql: [] };
  list.push(one);
  const named = {
    [given.name]: class extends given {
      override execute(query: string, params?: unknown[]) {
        one.sql.push(params === undefined ? query : query.replaceAll("?", "null"));
        return super.execute(query, params);
      }

      override async up(): Promise<void> {
        await super.up();
        one.isTransactional = this.isTransactional();
        one.isIndex = this instanceof ConcurrentIndex;
        one.sql.push(...this.getQueries().map(String));
        if (this instanceof ConcurrentIndex) one.sql.push(this.statement);
      }
    },
  };
  return named[given.name] ?? given;
}

/** What a release that still runs does not survive, as `<migration>: <rule>`. */
async function problemsIn(emitted: readonly Emitted[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "ember-sql-"));
  try {
    const found = emitted
      .filter(({ isTransactional, isIndex }) => !isTransactional && !isIndex)
      .map(({ name }) => `${name}: without a transaction, and no ConcurrentIndex`);
    for (const isTransactional of [true, false]) {
      const files = emitted
        .filter((one) => one.isTransactional === isTransactional && one.sql.length > 0)
        .map(({ name, sql }) => {
          const file = join(folder, `${name}.sql`);
          writeFileSync(file, sql.map((text) => text.replace(/;?\s*$/, ";\n")).join(""));
          return file;
        });
      if (files.length > 0) found.push(...(await lint(files, isTransactional)));
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function lint(files: string[], isTransactional: boolean): Promise<string[]> {
  const squawk = join(import.meta.dirname, "../../node_modules/.bin/squawk");
  const args = ["--reporter=json", `--exclude=${unused.join(",")}`, "--pg-version=16"];
  if (isTransactional) args.push("--assume-in-transaction");
  const { stdout } = await promisify(execFile)(squawk, [...args, ...files]).catch(
    (error: { code: unknown; stdout: string }) => {
      // 1: with findings.
      if (error.code !== 1 || !error.stdout.startsWith("[")) throw error;
      return error;
    },
  );
  const findings = JSON.parse(stdout) as { file: string; rule_name: string; message: string }[];
  return findings.map(({ file, rule_name: rule }) => `${/([^/]*)\.sql$/.exec(file)?.[1]}: ${rule}`);
}

class Careless extends Migration {
  override name = "Careless";
  override up(): void {
    this.addSql(`alter table "players" drop column "name_skeleton"`);
    this.addSql(`create index "players_name_index" on "players" ("name")`);
    this.addSql(`alter table "players" add constraint "named" check (name <> '')`);
  }
}

class Careful extends Migration {
  override name = "Careful";
  override async up(): Promise<void> {
    await this.execute(`alter table "players" add "careful" text null`);
    await this.execute(`update players set careful = ? where id = ?`, ["x", 1]);
    this.addSql(`create table "careful" ("id" serial primary key, "player_id" int not null)`);
    this.addSql(`create index "careful_player_index" on "careful" ("player_id")`);
  }
}

class Indexed extends ConcurrentIndex {
  override name = "Indexed";
  protected readonly indexName = "players_careful_index";
  protected readonly on = "players (careful)";
}

class Outside extends Careful {
  override name = "Outside";
  override isTransactional(): boolean {
    return false;
  }
}

describe("the migrations since the last release", () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.drop());

  const withMigrations = async <T>(
    classes: readonly MigrationClass[],
    work: (orm: Awaited<ReturnType<typeof createOrm>>) => Promise<T>,
  ): Promise<T> => {
    const config = { DATABASE_URL: database.url, DATABASE_POOL: 2 };
    const orm = await createOrm(config, silentLogger, { migrationClasses: classes });
    try {
      return await work(orm);
    } finally {
      await orm.close(true);
    }
  };

  async function emittedBy(classes: readonly MigrationClass[]): Promise<Emitted[]> {
    const list: Emitted[] = [];
    await withMigrations(
      classes.map((one) => recorded(one, list)),
      (orm) => migrate(orm),
    );
    return list;
  }

  it("only add, so that the last release runs beside them", async () => {
    const { migration } = lastRelease();
    const since = migrations.slice(migrations.findIndex(({ name }) => name === migration) + 1);
    await withMigrations(migrations, (orm) => revert(orm, migration));
    const problems = await problemsIn(await emittedBy(since));
    const expected = allowed.map(({ migration: name, rule }) => `${name}: ${rule}`);
    assert.deepEqual(problems, expected, "db/README.md says how to do it in two releases");
  });

  it("would be refused otherwise", async () => {
    const emitted = await emittedBy([Careful, Indexed]);
    assert.deepEqual(
      emitted.map(({ sql }) => sql.length),
      // The first one is the name and bound of the session.
      [5, 1],
    );
    assert.deepEqual(await problemsIn(emitted), []);
    const careless = await emittedBy([Careless]);
    assert.deepEqual(await problemsIn(careless), [
      "Careless: ban-drop-column",
      "Careless: require-concurrent-index-creation",
      "Careless: constraint-missing-not-valid",
    ]);
    await withMigrations([], async (orm) => {
      await orm.em.getConnection().execute("alter table players drop column careful");
      await orm.em.getConnection().execute("drop table careful");
    });
    assert.deepEqual(await problemsIn(await emittedBy([Outside])), [
      "Outside: without a transaction, and no ConcurrentIndex",
      "Outside: require-concurrent-index-creation",
    ]);
  });
});
