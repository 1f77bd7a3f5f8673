import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";

/** What one search may take of Postgres: with the rest of a request, 150 ms of a machine that has nothing else to do. */
const maxSearchMs = 120;
/** What Postgres says when it stopped a statement that took too long. */
const stoppedState = "57014";

/**
 * Runs the statements of a search; null when one of them takes too long. Whatever is searched for has its bound,
 * also where no index helps: two letters, or a text whose parts are in every name.
 */
export async function withinSearchTime<T>(
  em: EntityManager,
  work: (em: EntityManager) => Promise<T>,
): Promise<T | null> {
  try {
    return await em.transactional(async (tx) => {
      // Text: settings of a transaction.
      await sql.raw(`set local statement_timeout = ${maxSearchMs}`).execute(tx.getKysely());
      const found = await work(tx);
      // The transaction may be one that goes on.
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
