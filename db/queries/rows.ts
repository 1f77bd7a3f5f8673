import type { EntityManager } from "@mikro-orm/postgresql";
import type { RawBuilder } from "kysely";
import { inShare } from "../shared-entity-manager.ts";

/** Rows of one statement, run in the transaction of `em` when it has one. */
export async function rowsOf<T>(em: EntityManager, query: RawBuilder<T>): Promise<T[]> {
  return (await inShare(em, () => query.execute(em.getKysely()))).rows;
}
