import pg from "pg";

/** A table as its rows are copied: generated columns are left out. */
export interface TableShape {
  name: string;
  /** In the order of the table. */
  columns: string[];
}

export interface SequenceState {
  name: string;
  /** Decimal; null for one that was never used. */
  last: string | null;
}

/** In the schema of the service, and not made by an extension. */
const isOwn = `c.relnamespace = 'public'::regnamespace and not exists (
  select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`;

export const quoted = (name: string): string => `public.${pg.escapeIdentifier(name)}`;

export async function readTables(client: pg.Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `select c.relname::text as name, array(select a.attname::text from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       order by a.attnum) as columns
     from pg_class c where ${isOwn} and c.relkind = 'r' order by c.relname`,
  );
  return rows;
}

export async function readSequences(client: pg.Client): Promise<SequenceState[]> {
  const { rows } = await client.query<SequenceState>(
    `select c.relname::text as name, s.last_value::text as last
     from pg_class c join pg_sequences s on s.schemaname = 'public' and s.sequencename = c.relname
     where ${isOwn} order by c.relname`,
  );
  return rows;
}

/** True if the schema has nothing but what extensions made in it. */
export async function isEmptyDatabase(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_class c where ${isOwn} limit 1`);
  return rowCount === 0;
}
