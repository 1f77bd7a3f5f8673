import type { Writable } from "node:stream";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { quoted, type SequenceState, type TableShape } from "./catalog.ts";

export interface Load<Table extends TableShape> {
  tables: readonly Table[];
  sequences: readonly SequenceState[];
  /** Writes the rows of a table, in the text form of COPY, and ends the stream. */
  write(table: Table, rows: Writable): Promise<void>;
}

/**
 * Replaces the rows of all tables in the transaction of `client`, table by table. Foreign keys and indexes are dropped
 * and made again after the last row, which checks all rows, whatever the order of tables, and takes a fraction of the
 * time. Triggers do not run, since the rows are complete. Needs the owner of the tables, no superuser.
 */
export async function loadTables<Table extends TableShape>(
  client: pg.Client,
  { tables, sequences, write }: Load<Table>,
): Promise<void> {
  const around: Around[] = [];
  for (const text of [triggers, foreignKeys, indexes])
    around.push(...(await client.query<Around>(text)).rows);
  for (const { before } of around) await client.query(before);
  // Migrations have written rows as well.
  await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(", ")}`);
  for (const table of tables) {
    const columns = table.columns.map(pg.escapeIdentifier).join(", ");
    const copy = copyFrom(`copy ${quoted(table.name)} (${columns}) from stdin`);
    await write(table, client.query(copy));
  }
  for (const { afterwards } of around.toReversed()) await client.query(afterwards);
  for (const sequence of sequences) await setSequence(client, sequence);
}

/** Statements before the first row and after the last one. */
interface Around {
  before: string;
  afterwards: string;
}

const inSchema = "c.relnamespace = 'public'::regnamespace and c.relkind = 'r'";

const triggers = `
  select distinct format('alter table %s disable trigger user', c.oid::regclass) as before,
    format('alter table %s enable trigger user', c.oid::regclass) as afterwards
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where ${inSchema} and not t.tgisinternal`;

const foreignKeys = `
  select format('alter table %s drop constraint %I', c.oid::regclass, k.conname) as before,
    format('alter table %s add constraint %I %s', c.oid::regclass, k.conname, pg_get_constraintdef(k.oid))
      as afterwards
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where ${inSchema} and k.contype = 'f'`;

/** Those of primary keys and unique constraints stay. */
const indexes = `
  select format('drop index %s', i.indexrelid::regclass) as before, pg_get_indexdef(i.indexrelid) as afterwards
  from pg_index i join pg_class c on c.oid = i.indrelid
  where ${inSchema} and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`;

async function setSequence(client: pg.Client, { name, last }: SequenceState): Promise<void> {
  await client.query(
    `select setval($1::regclass, coalesce($2::bigint, seqstart), $2::bigint is not null)
     from pg_sequence where seqrelid = $1::regclass`,
    [quoted(name), last],
  );
}
