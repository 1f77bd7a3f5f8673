import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";

/** Resolves when a statement waits for a lock of another. */
export async function untilOneWaits(em: EntityManager): Promise<void> {
  for (let count = 0; count === 0;) {
    const [row] = await rowsOf<{ count: number }>(
      em,
      sql`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    count = row?.count ?? 0;
  }
}
