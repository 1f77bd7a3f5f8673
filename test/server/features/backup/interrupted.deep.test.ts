import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { prepareSchema } from "../../../../db/migrate.ts";
import { createOrm } from "../../../../db/orm.ts";
import { withClient } from "../../../../server/runtime/stores/postgres.ts";
import { eventually } from "../../../support/eventually.ts";
import { serviceEnv } from "../../../support/process.ts";
import { builtProgram } from "../../../support/programs.ts";
import { testDatabase } from "../../../support/stores.ts";
import {
  backUp,
  codeOf,
  digestRows,
  emptyTarget,
  restore,
  temporaryFolders,
  type Target,
} from "./targets.ts";

const folders = temporaryFolders();
const numPlayers = 100_000;
let source: Awaited<ReturnType<typeof testDatabase>>;
let folder: string;
let target: Target;

/** What a start says; "" if it goes on. */
async function startOf(isMigrating: boolean): Promise<string> {
  const orm = await createOrm({ DATABASE_URL: target.databaseUrl, DATABASE_POOL: 2 });
  try {
    await prepareSchema(orm, { MIGRATE_ON_START: isMigrating });
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  } finally {
    await orm.close(true);
  }
}

async function refusesStarts(): Promise<void> {
  for (const isMigrating of [true, false])
    assert.match(await startOf(isMigrating), /^a restore of this database was interrupted/);
}

/** The console as a process of its own. */
function runConsole(stores: { databaseUrl: string; redisUrl: string }, ...args: string[]) {
  const env = serviceEnv(folders.folder(), {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
  });
  const child = spawn(process.execPath, [...builtProgram("console"), ...args], {
    env,
    stdio: "ignore",
  });
  const ended = once(child, "close").then(([code]) => Number(code));
  return { child, ended };
}

const isSeen = (url: string, condition: string) => () =>
  withClient(
    url,
    async (client) => (await client.query(`select where ${condition}`)).rowCount === 1,
  ).catch(() => false);

const isCopying = (direction: "from" | "to", url: string) =>
  isSeen(
    url,
    `exists (select from pg_stat_activity where datname = current_database() and query like 'copy%players%${direction} std%')`,
  );

describe("an interrupted restore", () => {
  before(async () => {
    source = await testDatabase();
    await withClient(source.url, (client) =>
      client.query(
        `insert into players (name, name_key, is_guest, realm)
         select 'p' || i, 'p' || i, true, 'default' from generate_series(1, ${numPlayers}) i`,
      ),
    );
    folder = folders.folder();
    await backUp(source.url, folder);
  });
  beforeEach(async () => {
    target = await emptyTarget(source.url);
  });
  afterEach(() => target.stop());
  after(async () => {
    await source.drop();
    folders.clean();
  });

  const moments: { when: string; isReached: () => Promise<boolean> }[] = [
    {
      when: "its first migration",
      isReached: () =>
        isSeen(target.databaseUrl, "to_regclass('mikro_orm_migrations') is not null")(),
    },
    { when: "loading rows", isReached: () => isCopying("from", target.databaseUrl)() },
  ];
  for (const { when, isReached } of moments)
    it(`by kill -9 at ${when} lets no service start, and ends when it is repeated`, async () => {
      const { child, ended } = runConsole(target, "backup:restore", "--from", folder);
      await eventually(when, isReached);
      child.kill("SIGKILL");
      await ended;
      await refusesStarts();
      // Postgres rolls back once it has seen the end of the connection.
      await eventually(
        "the lock is free",
        async () => (await codeOf(restore(target, folder))) === null,
      );
      assert.equal(await startOf(true), "");
      const [given, found] = [await digestRows(source.url), await digestRows(target.databaseUrl)];
      assert.equal(found["players"], given["players"]);
    });

  it("by a refusal after the last row lets no service start, and goes on with the same backup only", async () => {
    const skipIds = 2_147_483_647;
    assert.equal(await codeOf(restore(target, folder, { skipIds })), "backup:ids_exhausted");
    await refusesStarts();
    const another = folders.folder();
    await backUp(source.url, another);
    assert.equal(await codeOf(restore(target, another)), "backup:other_restore");
    assert.equal(await codeOf(restore(target, folder)), null);
  });
});

describe("an interrupted backup", () => {
  before(async () => {
    source = await testDatabase();
    await withClient(source.url, (client) =>
      client.query(
        `insert into players (name, name_key, is_guest, realm)
         select 'p' || i, 'p' || i, true, 'default' from generate_series(1, ${numPlayers * 10}) i`,
      ),
    );
    target = await emptyTarget(source.url);
  });
  after(async () => {
    await target.stop();
    await source.drop();
    folders.clean();
  });

  it("leaves its folder empty, and says so by its exit code", async () => {
    const own = folders.folder();
    const stores = { ...target, databaseUrl: source.url };
    const { child, ended } = runConsole(stores, "backup:create", "--to", own);
    await eventually("the table is copied", isCopying("to", source.url));
    child.kill("SIGINT");
    assert.deepEqual([await ended, readdirSync(own)], [130, []]);
  });
});
