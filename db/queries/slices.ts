import {
  expressionBuilder,
  sql,
  type Expression,
  type ExpressionBuilder,
  type RawBuilder,
  type SqlBool,
} from "kysely";
import type { Database } from "../database.ts";
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
export function deleteWhere<T extends keyof Database>(
  em: EntityManager,
  table: T,
  condition: (eb: ExpressionBuilder<Database, T>) => Expression<SqlBool>,
): Promise<number> {
  const name = sql.table(table);
  const isGone = condition(expressionBuilder<Database, T>());
  // By place, since not every table has one key column.
  return inSlices(
    em,
    (limit) => sql`delete from ${name}
      where ctid = any(array(select ctid from ${name} where ${isGone} limit ${limit}))`,
  );
}
