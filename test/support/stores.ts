import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { cacheFolder } from "../../server/runtime/stores/cache-folder.ts";
import { findRedisProgram } from "../../server/runtime/stores/redis-program.ts";
import { startLocalPostgres, withClient } from "../../server/runtime/stores/postgres.ts";
import { starts } from "./cleanup.ts";
import { shared } from "./shared.ts";
import { acquireRedis, type TestRedis } from "./redis-server.ts";

export interface TestStores {
  /** A migrated database for this file only. */
  databaseUrl: string;
  /** A Redis for this file only. */
  redisUrl: string;
  redis: Pick<TestRedis, "kill" | "restart">;
  stop(): Promise<void>;
}

export interface TestPostgres {
  /** Address of the server's database `postgres`; the template is ready. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Resources shared by the processes of a run: one Postgres, and an unpacked Redis program if the machine
 * has none.
 */
export async function shareTestStores(): Promise<() => Promise<void>> {
  await findRedisProgram(cacheFolder("", tmpdir()), silentLogger);
  const postgres = await startTestPostgres();
  process.env["TEST_DATABASE_URL"] = postgres.url;
  return postgres.stop;
}

const template = "emberline_template";
/** A database as the first start of a service prepares it, which takes a third of that start. */
const startedTemplate = "emberline_started";

/** A Postgres for tests with a migrated template database; `stop` removes everything. */
export const startTestPostgres = (): Promise<TestPostgres> => starts(makePostgres);

async function makePostgres(): Promise<TestPostgres> {
  const dir = mkdtempSync(join(tmpdir(), "ember-pg-"));
  const socketDir = join(dir, "s");
  const clean = () => rmSync(dir, { recursive: true, force: true });
  try {
    makePassable(dir);
    const options = { dataDir: join(dir, "d"), socketDir, log: silentLogger, fsync: false };
    const server = await startLocalPostgres(options);
    const stop = async () => {
      await server.stop();
      clean();
    };
    const url = withDatabase(server.url, "postgres");
    await migrateTemplate(url).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return { url, stop };
  } catch (error) {
    clean();
    throw error;
  }
}

/** Postgres runs as another account if the tests run as root. */
function makePassable(dir: string): void {
  chmodSync(dir, 0o755);
}

async function migrateTemplate(url: string): Promise<void> {
  await withClient(url, (client) => client.query(`create database ${template}`));
  const { createOrm } = await import("../../db/orm.ts");
  const { migrate } = await import("../../db/migrate.ts");
  const orm = await createOrm(parseConfig({ DATABASE_URL: withDatabase(url, template) }));
  try {
    await migrate(orm);
  } finally {
    await orm.close(true);
  }
}

/** The server of a file that runs alone. */
const ownPostgres = shared(startTestPostgres, (postgres) => postgres.stop());

let databases = 0;

/**
 * A copy of the migrated template, or of a database that a service has prepared. `test/run.ts` shares one
 * Postgres over the run; a file that runs alone starts its own.
 */
export async function testDatabase({ isStarted = false } = {}): Promise<{
  url: string;
  drop(): Promise<void>;
}> {
  const server = process.env["TEST_DATABASE_URL"] ?? (await ownPostgres()).url;
  const name = `t_${process.pid}_${++databases}`;
  const run = (statement: string) => withClient(server, (client) => client.query(statement));
  if (isStarted) await makeStartedTemplate(server);
  const source = isStarted ? startedTemplate : template;
  // Without fsync copying the files is cheaper than copying through the WAL.
  await run(`create database ${name} template ${source} strategy file_copy`);
  return {
    url: withDatabase(server, name),
    drop: async () => void (await run(`drop database ${name} with (force)`)),
  };
}

/** Created once: processes that call concurrently wait for the first. */
async function makeStartedTemplate(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("select pg_advisory_lock(1)");
    const known = "select 1 from pg_database where datname = $1";
    if ((await client.query(known, [startedTemplate])).rowCount !== 0) return;
    await client.query(`create database ${startedTemplate} template ${template}`);
    const { prepareDatabase } = await import("../../server/runtime/boot/prepare.ts");
    await prepareDatabase(parseConfig({ DATABASE_URL: withDatabase(url, startedTemplate) }));
  });
}

/** Stores for one test file: its own database and Redis. */
export const testStores = (): Promise<TestStores> => starts(makeStores);

async function makeStores(): Promise<TestStores> {
  const [database, redis] = await Promise.all([testDatabase(), acquireRedis()]);
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    redis,
    stop: async () => void (await Promise.all([redis.release(), database.drop()])),
  };
}
