import type pg from "pg";

/**
 * The table that a database has while it is restored, and after a restore that was interrupted (BOOT-51). Not an
 * entity: it exists before the first migration.
 */
export const unfinishedTable = "unfinished_restore";
const table = `public.${unfinishedTable}`;

export interface UnfinishedRestore {
  /** Id of the backup. */
  backup: string;
  /** The rows are complete, at the migration of the backup. */
  isLoaded: boolean;
}

export async function readUnfinishedRestore(client: pg.Client): Promise<UnfinishedRestore | null> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    "select to_regclass($1) is not null as exists",
    [table],
  );
  if (found[0]?.exists !== true) return null;
  const { rows } = await client.query<UnfinishedRestore>(
    `select backup, is_loaded as "isLoaded" from ${table}`,
  );
  return rows[0] ?? null;
}

export async function beginRestore(client: pg.Client, backup: string): Promise<void> {
  await client.query("begin");
  await client.query(`create table ${table} (backup text not null, is_loaded boolean not null)`);
  await client.query(`insert into ${table} values ($1, false)`, [backup]);
  await client.query("commit");
}

/** In the transaction that loads the rows. */
export async function markLoaded(client: pg.Client): Promise<void> {
  await client.query(`update ${table} set is_loaded = true`);
}

/** In the transaction that finishes the restore. */
export const endOfRestore = `drop table ${table}`;

/** Throws on a database whose restore was interrupted: it looks like an empty one, or has ids given out before. */
export async function refuseUnfinishedRestore(client: pg.Client): Promise<void> {
  if ((await readUnfinishedRestore(client)) === null) return;
  throw new Error(
    "a restore of this database was interrupted: repeat `npm run console -- backup:restore`, or give an empty database",
  );
}
