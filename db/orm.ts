import { Migrator } from "@mikro-orm/migrations";
import { MikroORM, type EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { fileURLToPath } from "node:url";
import type { Config } from "../server/platform/config/config.ts";
import type { RequestConnections } from "../server/platform/postgres/connection-shares.ts";
import { parseDatabaseUrl } from "../server/platform/postgres/database-url.ts";
import { withTimeout } from "../server/platform/time/deadline.ts";
import { silentLogger, type Logger } from "../server/platform/log/logger.ts";
import { columnTypes } from "./column-types.ts";
import { SessionDialect, readOnlyState, type AnswerLimit, type PoolCounts } from "./driver.ts";
import { entities } from "./entities/index.ts";
import { guarded, type MigrationClass } from "./migration-session.ts";
import { migrations } from "./migrations/index.ts";
import { SharedEntityManager } from "./shared-entity-manager.ts";

/** Folder to which `npm run migration:create` writes. */
export const migrationFolder = fileURLToPath(new URL("./migrations", import.meta.url));

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 15_000;
/** Longer than the usual statement timeout: an answer that has not arrived by then never will. */
export const usualAnswerMs = statementTimeoutMs + 5_000;

interface OrmOptions extends AnswerLimit {
  /** Default: those of this release. */
  migrationClasses?: readonly MigrationClass[];
  /** Called with the pool before its first connection. */
  onPool?: ((pool: PoolCounts) => void) | undefined;
}

/**
 * Opens the pool of one process on `DATABASE_URL`; connections are made on first use. Library messages,
 * such as lost connections, go to `log`. With `answerLimitMs`, a connection on which a statement remains
 * unanswered for that long is closed.
 */
export async function createOrm(
  config: Pick<Config, "DATABASE_URL" | "DATABASE_POOL">,
  log: Logger = silentLogger,
  { migrationClasses = migrations, onPool, ...options }: OrmOptions = {},
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
    fallback_application_name: "emberline",
    statement_timeout: statementTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
  };
  const dialect = new SessionDialect(pool, warn);
  onPool?.(dialect.pool);
  return MikroORM.init({
    entities,
    entityManager: SharedEntityManager,
    extensions: [Migrator],
    metadataCache: { enabled: false },
    dbName: database,
    driverOptions: dialect,
    logger: warn,
    colors: false,
    migrations: {
      migrationsList: migrationClasses.map(guarded),
      // Each migration commits alone: one transaction would hold the locks of all.
      allOrNothing: false,
      path: migrationFolder,
      emit: "ts",
      snapshot: false,
    },
  });
}

/** A fork whose statements and transactions count against the connection share of a caller. */
export function forkFor(
  orm: MikroORM,
  connections: RequestConnections,
  guard: SharedEntityManager["guard"] = null,
): EntityManager {
  const em = orm.em.fork();
  if (em instanceof SharedEntityManager) Object.assign(em, { connections, guard });
  return em;
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

function sqlState(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
