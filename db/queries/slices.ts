import { sql, type RawBuilder } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";

/**
 * Rows of one statement of a clean-up. A backlog of millions in one would pass the statement limit, be undone, and
 * be tried again for ever.
 */
export const sliceRows = 10_000;

/** Runs a statement that touches at most `limit` rows until there are no more. Returns how many there were. */
export async function inSlices(
  em: EntityManager,
  statement: (limit: number) => RawBuilder<unknown>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const { numAffectedRows } = await statement(sliceRows).execute(em.getKysely());
    const touched = Number(numAffectedRows ?? 0);
    total += touched;
    if (touched < sliceRows) return total;
  }
}

/** Deletes the rows of a table for which the condition holds, slice by slice. Returns how many there were. */
export function deleteWhere(
  em: EntityManager,
  table: string,
  condition: RawBuilder<unknown>,
): Promise<number> {
  const name = sql.table(table);
  return inSlices(
    em,
    (limit) => sql`delete from ${name}
      where ctid = any(array(select ctid from ${name} where ${condition} limit ${limit}))`,
  );
}
