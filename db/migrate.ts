import { setTimeout as pause } from "node:timers/promises";
import type { MikroORM } from "@mikro-orm/postgresql";
import pg from "pg";
import type { Config } from "../server/platform/config/config.ts";
import { silentLogger, type Logger } from "../server/platform/log/logger.ts";
import { advisoryLocks } from "./advisory-locks.ts";
import { refuseUnfinishedRestore } from "./backup/unfinished-restore.ts";
import type { SessionDialect } from "./driver.ts";
import { describeBlocker, findBlocker, type Blocker } from "./migration-session.ts";

export interface MigrationLimits {
  /** How long, since the first of them, locks that others hold are tried for. */
  blockedMs: number;
  /** Between two attempts, in which the requests that queued behind the first are served. */
  pauseMs: number;
  /** How long a start waits for another one that migrates. */
  turnMs: number;
}

const usualLimits: MigrationLimits = { blockedMs: 60_000, pauseMs: 2_000, turnMs: 120_000 };
const turnPauseMs = 100;
const blockerPauseMs = 250;

interface Options {
  log?: Logger;
  limits?: Partial<MigrationLimits>;
}

/**
 * Migrates the schema, each migration in a transaction of its own; of several concurrent instances one works
 * and the others wait. Returns the names.
 */
export function migrate(orm: MikroORM, options: Options = {}): Promise<string[]> {
  return withMigrationLock(orm, options, async (client) => {
    await refuseUnfinishedRestore(client);
    return run(orm, client, () => orm.migrator.up(), options);
  });
}

/** Reverts the newest migration, or all after the one named `to`. */
export function revert(orm: MikroORM, to?: string, options: Options = {}): Promise<string[]> {
  const step = () => orm.migrator.down(to === undefined ? undefined : { to });
  return withMigrationLock(orm, options, (client) => run(orm, client, step, options));
}

/** Migrates at a start, unless `MIGRATE_ON_START` leaves that to the console. */
export async function prepareSchema(
  orm: MikroORM,
  { MIGRATE_ON_START }: Pick<Config, "MIGRATE_ON_START">,
  options: Options = {},
): Promise<void> {
  if (MIGRATE_ON_START) {
    await migrate(orm, options);
    return;
  }
  await withDatabase(orm, refuseUnfinishedRestore);
  const { pending } = await readMigrations(orm);
  if (pending.length > 0)
    throw new Error(
      `${pending.length} pending, from ${pending[0]}; MIGRATE_ON_START is false: run \`npm run console -- migrate --up\``,
    );
}

export interface MigrationState {
  applied: { name: string; at: Date }[];
  pending: string[];
  /** Applied by a newer release. */
  unknown: string[];
}

/**
 * Compares the database with this release. Only reads, whereas the migrator creates missing objects before
 * it answers; a missing database has nothing applied.
 */
export async function readMigrations(orm: MikroORM): Promise<MigrationState> {
  const { migrationsList = [] } = orm.config.get("migrations");
  const known = migrationsList.map(({ name }) => name);
  const rows = await readRows(orm);
  const done = new Set(rows.map(({ name }) => name));
  return {
    applied: rows.filter(({ name }) => known.includes(name)),
    pending: known.filter((name) => !done.has(name)),
    unknown: rows.map(({ name }) => name).filter((name) => !known.includes(name)),
  };
}

export const isMigrated = async (orm: MikroORM): Promise<boolean> =>
  (await readMigrations(orm)).pending.length === 0;

async function readRows(orm: MikroORM): Promise<{ name: string; at: Date }[]> {
  const { tableName } = orm.config.get("migrations");
  const table = pg.escapeIdentifier(tableName ?? "");
  const select = `select name, executed_at as at from ${table} order by id`;
  const found = await withDatabase(orm, (client) =>
    client.query<{ name: string; at: Date }>(select),
  );
  return found?.rows ?? [];
}

/** One short-lived connection; null if the database, or the table that is asked for, is missing. */
async function withDatabase<T>(
  orm: MikroORM,
  ask: (client: pg.Client) => Promise<T>,
): Promise<T | null> {
  let client: pg.Client | undefined;
  try {
    client = await connect(orm, orm.config.get("dbName") ?? "");
    return await ask(client);
  } catch (error) {
    if (missing.has(sqlState(error))) return null;
    throw error;
  } finally {
    await client?.end();
  }
}

/** Repeats the step while others hold locks; what it has finished stays. */
async function run(
  orm: MikroORM,
  client: pg.Client,
  step: () => Promise<unknown>,
  { log = silentLogger, limits }: Options,
): Promise<string[]> {
  const { blockedMs, pauseMs } = { ...usualLimits, ...limits };
  const { migrator } = orm;
  const done: string[] = [];
  let current = "";
  const begun = ({ name }: { name: string }) => void (current = name);
  const ended = ({ name }: { name: string }) => void done.push(name);
  migrator
    .on("migrating", begun)
    .on("reverting", begun)
    .on("migrated", ended)
    .on("reverted", ended);
  try {
    for (let deadline = Infinity; ;) {
      const watch = watchBlocker(client, (blocker) =>
        log.warn(
          { event: "migration_blocked", migration: current, pid: blocker.pid },
          `migration waits for ${describeBlocker(blocker)} and is tried again`,
        ),
      );
      const error: unknown = await step().then(
        () => null,
        (reason: unknown) => reason,
      );
      const blocker = await watch.stop();
      if (error === null) return done;
      const isBlocked = blocked.has(sqlState(error));
      const now = performance.now();
      if (isBlocked) deadline = Math.min(deadline, now + blockedMs);
      if (!isBlocked || now + pauseMs >= deadline) throw failure(current, error, blocker);
      await pause(pauseMs);
    }
  } finally {
    migrator.off("migrating", begun).off("reverting", begun);
    migrator.off("migrated", ended).off("reverted", ended);
  }
}

function failure(migration: string, error: unknown, blocker: Blocker | null): Error {
  const reason = error instanceof Error ? error.message : String(error);
  const holder = blocker === null ? "" : `; it waited for ${describeBlocker(blocker)}`;
  return new Error(`${migration === "" ? "" : `${migration}: `}${reason}${holder}`, {
    cause: error,
  });
}

/** Looks who holds the lock: the error of a wait that ended does not tell. */
function watchBlocker(client: pg.Client, onFirst: (blocker: Blocker) => void) {
  const ended = new AbortController();
  let last: Blocker | null = null;
  const watching = (async () => {
    while (!ended.signal.aborted) {
      await pause(blockerPauseMs, null, { signal: ended.signal, ref: false }).catch(() => null);
      const found = ended.signal.aborted ? null : await findBlocker(client).catch(() => null);
      if (found !== null && last === null) onFirst(found);
      last = found ?? last;
    }
  })();
  const stop = async () => {
    ended.abort();
    await watching;
    return last;
  };
  return { stop };
}

/** Holds the lock on a separate connection, because the migrator takes others from the pool. */
async function withMigrationLock<T>(
  orm: MikroORM,
  { limits }: Options,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectOrCreate(orm);
  try {
    await takeTurn(client, limits?.turnMs ?? usualLimits.turnMs);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Asks again and again: a statement that waits would be a transaction that an index build waits for. */
async function takeTurn(client: pg.Client, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { rows } = await client.query<{ isTaken: boolean }>(
      `select pg_try_advisory_lock($1) as "isTaken"`,
      [advisoryLocks.migrations],
    );
    if (rows[0]?.isTaken === true) return;
    if (performance.now() >= deadline)
      throw new Error(`another instance still migrates after ${limitMs / 1_000} s`);
    await pause(turnPauseMs);
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
    if (!existsAlready.has(sqlState(error)))
      throw new Error(
        `database ${database} is missing and cannot be created: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
  } finally {
    await admin.end();
  }
  return connect(orm, database);
}

async function connect(orm: MikroORM, database: string): Promise<pg.Client> {
  const { options } = orm.config.get("driverOptions") as SessionDialect;
  // No statement timeout: creating a database may take longer.
  const client = new pg.Client({ ...options, database, statement_timeout: false });
  client.on("error", () => {});
  await client.connect();
  return client;
}

const missingDatabase = "3D000";
const missingTable = "42P01";
const missing: ReadonlySet<unknown> = new Set([missingDatabase, missingTable]);
const existsAlready: ReadonlySet<unknown> = new Set(["42P04", "23505"]);
/** A lock that was not available in time, a deadlock. */
const blocked: ReadonlySet<unknown> = new Set(["55P03", "40P01"]);

const sqlState = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
