import { Migrator } from "@mikro-orm/migrations";
import { MikroORM, type EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import pg from "pg";
import { fileURLToPath } from "node:url";
import type { Config } from "../server/platform/config/config.ts";
import type { RequestConnections } from "../server/platform/postgres/connection-shares.ts";
import { parseDatabaseUrl } from "../server/platform/postgres/database-url.ts";
import { withTimeout } from "../server/platform/time/deadline.ts";
import { silentLogger, type Logger } from "../server/platform/log/logger.ts";
import { columnTypes } from "./column-types.ts";
import { SessionDialect, readOnlyState, type AnswerLimit } from "./driver.ts";
import { entities } from "./entities/index.ts";
import { migrations } from "./migrations/index.ts";
import { SharedEntityManager } from "./shared-entity-manager.ts";

/** Where `npm run migration:create` writes. */
export const migrationFolder = fileURLToPath(new URL("./migrations", import.meta.url));

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;
/** How long a start waits for another instance that is migrating. */
const migrationWaitMs = 60_000;
/** Longer than any statement may take that was given no more time: an answer not there by then never comes. */
export const usualAnswerMs = statementTimeoutMs + 5_000;
/** Any number will do, as long as every instance of the service uses the same. */
const migrationLock = 7_346_201;

/**
 * Opens the pool of one process on `DATABASE_URL`; connections are made on first use.
 * What the library has to say, such as lost connections, goes to `log`. With `answerLimitMs` a
 * connection on which a statement was not answered for so long is closed.
 */
export async function createOrm(
  config: Pick<Config, "DATABASE_URL" | "DATABASE_POOL">,
  log: Logger = silentLogger,
  options: AnswerLimit = {},
): Promise<MikroORM> {
  const { database, ...address } = parseDatabaseUrl(config.DATABASE_URL);
  const warn = (message: string) =>
    log.warn({ event: "database_notice", store: "postgres" }, message);
  const pool = {
    ...address,
    ...options,
    database,
    max: config.DATABASE_POOL,
    types: columnTypes(),
    statement_timeout: statementTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    onConnect: prepareSession,
  };
  return MikroORM.init({
    entities,
    entityManager: SharedEntityManager,
    extensions: [Migrator],
    metadataCache: { enabled: false },
    dbName: database,
    driverOptions: new SessionDialect(pool, warn),
    logger: warn,
    colors: false,
    migrations: {
      migrationsList: [...migrations],
      path: migrationFolder,
      emit: "ts",
      snapshot: false,
    },
  });
}

/**
 * No statement of ours earns its compilation to machine code, which costs a large import more than all the rest.
 * A connection that fails here says so when it is used: refused here, it would keep its place in the pool.
 */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query("set jit = off").catch(() => undefined);
}

/** Takes a fork whose statements and transactions count against the share of a caller. */
export function forkFor(orm: MikroORM, connections: RequestConnections): EntityManager {
  const em = orm.em.fork();
  if (em instanceof SharedEntityManager) em.connections = connections;
  return em;
}

/** Brings the schema up to date; of several instances at once one works and the others wait. */
export async function migrate(orm: MikroORM): Promise<void> {
  await withMigrationLock(orm, async () => {
    await orm.migrator.up();
  });
}

/**
 * True when the database is there and `migrate` has nothing to do. Only looks, while the migrator makes what is
 * missing before it answers.
 */
export async function isMigrated(orm: MikroORM): Promise<boolean> {
  let client: pg.Client | undefined;
  try {
    client = await connect(orm, orm.config.get("dbName") ?? "");
    const { tableName } = orm.config.get("migrations");
    const { rows } = await client.query<{ name: string }>(
      `select name from ${pg.escapeIdentifier(tableName ?? "")}`,
    );
    const done = new Set(rows.map(({ name }) => name));
    return migrations.every(({ name }) => done.has(name));
  } catch (error) {
    if (missing.has(sqlState(error))) return false;
    throw error;
  } finally {
    await client?.end();
  }
}

/** True when Postgres answers within `timeoutMs`; never throws. */
export const pingDatabase = async (orm: MikroORM, timeoutMs: number): Promise<boolean> =>
  (await readDatabaseState(orm, timeoutMs)) !== "away";

/** A refusal like that of a write, which also ends a connection to a server that takes none. */
const refuseIfReadOnly = sql`do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise read_only_sql_transaction;
  end if;
end $$`;

/** How Postgres is within `timeoutMs`: a standby, or one set so, takes no writes; never throws. */
export async function readDatabaseState(
  orm: MikroORM,
  timeoutMs: number,
): Promise<"ok" | "read_only" | "away"> {
  const answer = refuseIfReadOnly.execute(orm.em.fork().getKysely()).then(
    () => "ok" as const,
    (error: unknown) => (sqlState(error) === readOnlyState ? "read_only" : "away"),
  );
  return withTimeout(answer, timeoutMs).catch(() => "away" as const);
}

/** Holds the lock on a connection of its own, because the migrator takes others from the pool. */
async function withMigrationLock(orm: MikroORM, work: () => Promise<void>): Promise<void> {
  const client = await connectOrCreate(orm);
  try {
    await client.query(`set lock_timeout = ${migrationWaitMs}`);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await work();
  } finally {
    await client.end();
  }
}

/** A connection to the database, which is created when it is missing. */
async function connectOrCreate(orm: MikroORM): Promise<pg.Client> {
  const database = orm.config.get("dbName") ?? "";
  try {
    return await connect(orm, database);
  } catch (error) {
    if (sqlState(error) !== missingDatabase) throw error;
  }
  const admin = await connect(orm, "postgres");
  try {
    await admin.query(`create database ${pg.escapeIdentifier(database)}`);
  } catch (error) {
    // Another instance was faster.
    if (!existsAlready.has(sqlState(error))) throw error;
  } finally {
    await admin.end();
  }
  return connect(orm, database);
}

async function connect(orm: MikroORM, database: string): Promise<pg.Client> {
  const { options } = orm.config.get("driverOptions") as SessionDialect;
  // No limit of a statement: an advisory lock may be held for long.
  const client = new pg.Client({ ...options, database, statement_timeout: false });
  client.on("error", () => {});
  await client.connect();
  return client;
}

const missingDatabase = "3D000";
const missingTable = "42P01";
const missing: ReadonlySet<unknown> = new Set([missingDatabase, missingTable]);
const existsAlready: ReadonlySet<unknown> = new Set(["42P04", "23505"]);

function sqlState(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
