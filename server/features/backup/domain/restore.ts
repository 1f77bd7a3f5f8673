import type { MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import type pg from "pg";
import { advisoryLocks } from "../../../../db/advisory-locks.ts";
import {
  isEmptyDatabase,
  readSequences,
  readTables,
  type TableShape,
} from "../../../../db/backup/catalog.ts";
import { loadTables } from "../../../../db/backup/load.ts";
import { withSession } from "../../../../db/backup/session.ts";
import {
  beginRestore,
  markLoaded,
  readUnfinishedRestore,
  unfinishedTable,
} from "../../../../db/backup/unfinished-restore.ts";
import { readMigrations } from "../../../../db/migrate.ts";
import { createOrm } from "../../../../db/orm.ts";
import type { Config } from "../../../platform/config/config.ts";
import { asCluster } from "../../../platform/redis/redis.ts";
import { createPictureStore } from "../../avatars/domain/create-picture-store.ts";
import { settle, type RestoreChoices } from "./after-restore.ts";
import { checkBackup } from "./check.ts";
import { tableFile } from "./create.ts";
import { readLines } from "./files.ts";
import type { Manifest, StoredTable } from "./manifest.ts";
import { readPictures } from "./pictures.ts";
import { BackupRefused } from "./refusal.ts";

export interface RestoreOptions extends RestoreChoices {
  config: Pick<Config, "DATA_DIR" | "AVATAR_STORE">;
  databaseUrl: string;
  redis: Redis;
  folder: string;
}

export interface Restored {
  manifest: Manifest;
  /** Tables of the backup that no migration makes: not the service's. */
  notRestored: string[];
  numSessionsEnded: number;
}

/**
 * Restores a backup into an empty database beside an empty Redis (BOOT-51). The rows are loaded in one transaction, at
 * the migration of the backup; then the database is migrated to this release. Until the end a table marks the
 * restore as unfinished, and every start is refused; repeating the command goes on where it was interrupted.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const manifest = await checkBackup(options.folder);
  if (await hasKeys(options.redis)) throw new BackupRefused("backup:redis_not_empty");
  const { databaseUrl } = options;
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  try {
    return await withSession(databaseUrl, (client) => run(client, orm, manifest, options));
  } finally {
    await orm.close(true);
  }
}

async function hasKeys(redis: Redis): Promise<boolean> {
  const nodes = asCluster(redis)?.nodes("master") ?? [redis];
  return (await Promise.all(nodes.map((node) => node.dbsize()))).some((count) => count > 0);
}

async function run(
  client: pg.Client,
  orm: MikroORM,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<Restored> {
  await takeLock(client);
  if (!(await isLoaded(client, manifest))) {
    await orm.migrator.up({ to: manifest.migrations.at(-1) ?? "" });
    await requireApplied(orm, manifest);
    await restorePictures(manifest, options);
    await load(client, manifest, options.folder);
  }
  await orm.migrator.up();
  const own = new Set((await readTables(client)).map(({ name }) => name));
  const numSessionsEnded = await settle(orm.em.fork(), manifest, options);
  await client.query("analyze");
  const notRestored = manifest.tables.map(({ name }) => name).filter((name) => !own.has(name));
  return { manifest, notRestored, numSessionsEnded };
}

/** The lock of migrations: a start waits as long as one lasts, and then finds the restore. */
async function takeLock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isTaken: boolean }>(
    `select pg_try_advisory_lock($1) as "isTaken"`,
    [advisoryLocks.migrations],
  );
  if (rows[0]?.isTaken !== true) throw new BackupRefused("backup:busy");
}

/** Whether an interrupted restore of this backup has loaded its rows; marks an empty database. */
async function isLoaded(client: pg.Client, { id }: Manifest): Promise<boolean> {
  const unfinished = await readUnfinishedRestore(client);
  if (unfinished === null) {
    if (!(await isEmptyDatabase(client))) throw new BackupRefused("backup:database_not_empty");
    await beginRestore(client, id);
    return false;
  }
  if (unfinished.backup !== id) throw new BackupRefused("backup:other_restore");
  return unfinished.isLoaded;
}

/** Names are random, so what is there was written by an interrupted restore. */
async function restorePictures(
  { pictures }: Manifest,
  { config, folder }: RestoreOptions,
): Promise<void> {
  if (!("count" in pictures)) return;
  const store = createPictureStore(config);
  await readPictures(folder, pictures, async (name, bytes) => {
    // A killed restore may have left a part of it.
    await store.remove(name);
    await store.write(name, bytes);
  });
}

async function load(client: pg.Client, manifest: Manifest, folder: string): Promise<void> {
  const tables = await ownTables(client, manifest);
  const sequences = new Set((await readSequences(client)).map(({ name }) => name));
  await client.query("begin");
  try {
    await loadTables(client, {
      tables,
      sequences: manifest.sequences.filter(({ name }) => sequences.has(name)),
      write: ({ name, rows: lines, ...stored }, rows) =>
        readLines(folder, tableFile(name), { ...stored, lines }, rows),
    });
    await markLoaded(client);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** Rows fit only the schema that they come from. */
async function requireApplied(orm: MikroORM, { migrations }: Manifest): Promise<void> {
  const applied = (await readMigrations(orm)).applied.map(({ name }) => name);
  if (applied.join() !== migrations.join()) throw new BackupRefused("backup:other_schema");
}

/** The tables of the backup that this database has, with the same columns. */
async function ownTables(client: pg.Client, manifest: Manifest): Promise<StoredTable[]> {
  const found = (await readTables(client)).filter(({ name }) => name !== unfinishedTable);
  const names = new Set(found.map(({ name }) => name));
  const tables = manifest.tables.filter(({ name }) => names.has(name));
  if (shapeOf(tables) !== shapeOf(found)) throw new BackupRefused("backup:other_schema");
  return tables;
}

/** The order of columns may differ between databases. */
const shapeOf = (tables: readonly TableShape[]): string =>
  JSON.stringify(tables.map(({ name, columns }) => [name, columns.toSorted()]));
