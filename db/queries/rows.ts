import type { EntityManager } from "@mikro-orm/postgresql";
import type { RawBuilder } from "kysely";

/** Rows of one statement, run in the transaction of `em` when it has one. */
export async function rowsOf<T>(em: EntityManager, query: RawBuilder<T>): Promise<T[]> {
  return (await query.execute(em.getKysely())).rows;
}
