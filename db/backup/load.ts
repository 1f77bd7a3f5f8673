import type { Writable } from "node:stream";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { quoted, type SequenceState, type TableShape } from "./catalog.ts";

export interface Load {
  tables: readonly TableShape[];
  sequences: readonly SequenceState[];
  /** Writes the rows of a table, in the text form of COPY, and ends the stream. */
  write(table: TableShape, rows: Writable): Promise<void>;
}

/**
 * Replaces the rows of all tables in the transaction of `client`, table by table. Foreign keys are dropped and made
 * again after the last row, which checks them all, whatever their order; triggers do not run, since the rows are
 * complete. Needs the owner of the tables, no superuser.
 */
export async function loadTables(client: pg.Client, load: Load): Promise<void> {
  const { tables, sequences, write } = load;
  const all = tables.map(({ name }) => quoted(name));
  const keys = await readForeignKeys(client);
  const triggered = await readTriggered(client);
  for (const { table, name } of keys)
    await client.query(`alter table ${table} drop constraint ${name}`);
  for (const table of triggered) await client.query(`alter table ${table} disable trigger user`);
  // Migrations have written rows as well.
  await client.query(`truncate ${all.join(", ")}`);
  for (const table of tables) {
    const columns = table.columns.map(pg.escapeIdentifier).join(", ");
    await write(
      table,
      client.query(copyFrom(`copy ${quoted(table.name)} (${columns}) from stdin`)),
    );
  }
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  for (const table of triggered) await client.query(`alter table ${table} enable trigger user`);
  for (const sequence of sequences) await setSequence(client, sequence);
}

interface ForeignKey {
  /** Both quoted. */
  table: string;
  name: string;
  definition: string;
}

async function readForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as "table", quote_ident(conname) as name,
       pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1, 2`,
  );
  return rows;
}

/** Quoted names of tables with triggers of ours. */
async function readTriggered(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct c.oid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'public'::regnamespace and not t.tgisinternal order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function setSequence(client: pg.Client, { name, last }: SequenceState): Promise<void> {
  await client.query(
    `select setval($1::regclass, coalesce($2::bigint, seqstart), $2::bigint is not null)
     from pg_sequence where seqrelid = $1::regclass`,
    [quoted(name), last],
  );
}
