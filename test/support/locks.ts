import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";

/** Resolves when a statement waits for a lock of another one. */
export const untilOneWaits = (em: EntityManager): Promise<void> => untilWaiting(em, 1);

/** Resolves when at least this many statements wait for a lock of another one. */
export async function untilWaiting(em: EntityManager, wanted: number): Promise<void> {
  for (let count = 0; count < wanted;) {
    const [row] = await rowsOf<{ count: number }>(
      em,
      sql`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    count = row?.count ?? 0;
  }
}
