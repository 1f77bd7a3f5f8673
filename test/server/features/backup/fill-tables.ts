import pg from "pg";

/** Characters that COPY escapes, and those that a file could mangle. */
export const nasty = "tab\t line\n back\\slash \\N \r\n ' \" ü 😀 \u0001";

interface Column {
  name: string;
  type: string;
  /** Length of a text; null if unlimited. */
  length: number | null;
  /** Quoted table and column that it references. */
  references: string | null;
  /** The first value that a check allows. */
  allowed: string | null;
}

/** Writes a row into each table that has none, with values that satisfy its constraints. Returns the tables. */
export async function fillTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  );
  const filled: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await client.query(`select from ${pg.escapeIdentifier(name)} limit 1`);
    if (rowCount === 0 && (await fill(client, name))) filled.push(name);
  }
  return filled;
}

async function fill(client: pg.Client, table: string): Promise<boolean> {
  const columns = await readColumns(client, table);
  const names = columns.map(({ name }) => pg.escapeIdentifier(name)).join(", ");
  const values = columns.map(valueOf).join(", ");
  await client.query(
    `insert into ${pg.escapeIdentifier(table)} (${names}) overriding system value values (${values})`,
  );
  return true;
}

function valueOf({ type, length, references, allowed }: Column): string {
  if (references !== null) return `(select ${references} order by 1 limit 1)`;
  if (allowed !== null) return allowed;
  switch (type) {
    case "int4":
    case "int8":
    case "int2":
      return "1";
    case "bool":
      return "true";
    case "timestamptz":
      return "'2026-01-02 03:04:05.678901+02'";
    case "date":
      return "'2026-01-02'";
    case "json":
    case "jsonb":
      return pg.escapeLiteral(
        JSON.stringify({ [nasty.slice(0, -1)]: [null, 1.5, nasty.slice(0, -1)] }),
      );
    case "text":
    case "varchar":
    case "bpchar":
      return pg.escapeLiteral(nasty.slice(0, length ?? undefined));
    default:
      throw new Error(`a value for ${type} is missing`);
  }
}

async function readColumns(client: pg.Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select a.attname::text as name, t.typname::text as type,
       nullif(a.atttypmod, -1) - 4 as length,
       (select format('%I from %I', (select attname from pg_attribute where attrelid = c.confrelid and attnum = c.confkey[1]),
            c.confrelid::regclass::text)
        from pg_constraint c where c.contype = 'f' and c.conrelid = a.attrelid and c.conkey = array[a.attnum]) as references,
       (select substring(pg_get_constraintdef(c.oid) from '''[a-z_]+''')
        from pg_constraint c where c.contype = 'c' and c.conrelid = a.attrelid and c.conkey = array[a.attnum]) as allowed
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by a.attnum`,
    [pg.escapeIdentifier(table)],
  );
  return rows;
}
