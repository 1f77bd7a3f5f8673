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
 * Rows in one clean-up statement. One statement over a backlog of millions would hit the statement timeout, roll
 * back, and fail again on every retry.
 */
export const batchRows = 10_000;

/** Runs a statement that touches at most `limit` rows until there are no more. Returns how many there were. */
export async function inBatches(
  em: EntityManager,
  statement: (limit: number) => RawBuilder<unknown>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const { numAffectedRows } = await statement(batchRows).execute(em.getKysely());
    const touched = Number(numAffectedRows ?? 0);
    total += touched;
    if (touched < batchRows) return total;
  }
}

/** Deletes the rows of a table for which the condition holds, in batches. Returns how many there were. */
export function deleteWhere<T extends keyof Database>(
  em: EntityManager,
  table: T,
  condition: (eb: ExpressionBuilder<Database, T>) => Expression<SqlBool>,
): Promise<number> {
  const name = sql.table(table);
  const isGone = condition(expressionBuilder<Database, T>());
  // By ctid, since not every table has a single key column.
  return inBatches(
    em,
    (limit) => sql`delete from ${name}
      where ctid = any(array(select ctid from ${name} where ${isGone} limit ${limit}))`,
  );
}
