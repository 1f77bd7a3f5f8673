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
import { advisoryLocks } from "./advisory-locks.ts";
import { columnTypes } from "./column-types.ts";
import { SessionDialect, readOnlyState, type AnswerLimit } from "./driver.ts";
import { entities } from "./entities/index.ts";
import { migrations } from "./migrations/index.ts";
import { SharedEntityManager } from "./shared-entity-manager.ts";

/** Folder to which `npm run migration:create` writes. */
export const migrationFolder = fileURLToPath(new URL("./migrations", import.meta.url));

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;
/** How long a start waits for another instance's migration. */
const migrationWaitMs = 60_000;
/** Longer than the usual statement timeout: an answer that has not arrived by then never will. */
export const usualAnswerMs = statementTimeoutMs + 5_000;

/**
 * Opens the pool of one process on `DATABASE_URL`; connections are made on first use. Library messages,
 * such as lost connections, go to `log`. With `answerLimitMs`, a connection on which a statement remains
 * unanswered for that long is closed.
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

/** A fork whose statements and transactions count against the connection share of a caller. */
export function forkFor(orm: MikroORM, connections: RequestConnections): EntityManager {
  const em = orm.em.fork();
  if (em instanceof SharedEntityManager) em.connections = connections;
  return em;
}

/** Migrates the schema; of several concurrent instances one works and the others wait. */
export async function migrate(orm: MikroORM): Promise<void> {
  await withMigrationLock(orm, async () => {
    await orm.migrator.up();
  });
}

/**
 * True if the database exists and `migrate` has nothing to do. Only reads, whereas the migrator creates
 * missing objects before it answers.
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

/** True if Postgres answers within `timeoutMs`; never throws. */
export const pingDatabase = async (orm: MikroORM, timeoutMs: number): Promise<boolean> =>
  (await readDatabaseState(orm, timeoutMs)) !== "away";

/**
 * Raises the error of a refused write, which also makes the driver close connections to a read-only server.
 */
const refuseIfReadOnly = sql`do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise read_only_sql_transaction;
  end if;
end $$`;

/**
 * State of Postgres, checked within `timeoutMs`; `read_only` for a standby or a server set to read only.
 * Never throws.
 */
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

/** Holds the lock on a separate connection, because the migrator takes others from the pool. */
async function withMigrationLock(orm: MikroORM, work: () => Promise<void>): Promise<void> {
  const client = await connectOrCreate(orm);
  try {
    await client.query(`set lock_timeout = ${migrationWaitMs}`);
    await client.query("select pg_advisory_lock($1)", [advisoryLocks.migrations]);
    await work();
  } finally {
    await client.end();
  }
}

/** Connects to the database, creating it if it is missing. */
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
    // Another instance created it first.
    if (!existsAlready.has(sqlState(error))) throw error;
  } finally {
    await admin.end();
  }
  return connect(orm, database);
}

async function connect(orm: MikroORM, database: string): Promise<pg.Client> {
  const { options } = orm.config.get("driverOptions") as SessionDialect;
  // No statement timeout, because the wait for the advisory lock may be long.
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
