import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";

/** Limit of one search in Postgres: with the rest of a request, 150 ms on an otherwise idle machine. */
const maxSearchMs = 120;
/** SQLSTATE of a cancelled statement. */
const stoppedState = "57014";

/**
 * Runs the statements of a search; null if one exceeds the limit. It bounds every search term, even where
 * no index helps: two letters, or a text whose parts occur in every name.
 */
export async function withinSearchTime<T>(
  em: EntityManager,
  work: (em: EntityManager) => Promise<T>,
): Promise<T | null> {
  try {
    return await em.transactional(async (tx) => {
      // Raw SQL: settings of a transaction.
      await sql.raw(`set local statement_timeout = ${maxSearchMs}`).execute(tx.getKysely());
      const found = await work(tx);
      // The transaction may continue afterwards.
      await sql.raw("set local statement_timeout to default").execute(tx.getKysely());
      return found;
    });
  } catch (error) {
    if (isStopped(error)) return null;
    throw error;
  }
}

function isStopped(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === stoppedState) return true;
  return false;
}
