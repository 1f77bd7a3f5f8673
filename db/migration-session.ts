import type { Migration } from "@mikro-orm/migrations";
import type pg from "pg";

/**
 * How long a migration waits for a lock. Requests that need the table queue behind it meanwhile, so it gives
 * up soon and tries again (BOOT-21).
 */
export const lockTimeoutMs = 2_000;
/** Name of the one session of a database that migrates. */
export const migrationSession = "emberline migration";

/** In the library's own type `up` is abstract. */
interface CompleteMigration extends Migration {
  up(): Promise<void> | void;
}

export type MigrationClass = new (
  ...given: ConstructorParameters<typeof Migration>
) => CompleteMigration;

/** The migration with a name for its session and a bound for its waits. */
export function guarded(given: MigrationClass): { name: string; class: MigrationClass } {
  class Guarded extends given {
    override async up(): Promise<void> {
      await beginSession(this);
      await super.up();
    }

    override async down(): Promise<void> {
      await beginSession(this);
      await super.down();
    }
  }
  return { name: given.name, class: Guarded };
}

/** Until the end of the transaction. */
async function beginSession(migration: Migration): Promise<void> {
  if (!migration.isTransactional()) return;
  await migration.execute(
    `select set_config('lock_timeout', '${lockTimeoutMs}', true),
       set_config('application_name', '${migrationSession}', true)`,
  );
}

/** A session that holds what a migration waits for; times and names of other users may be hidden. */
export interface Blocker {
  pid: number;
  name: string | null;
  queryStart: Date | null;
}

export const describeBlocker = ({ pid, name, queryStart }: Blocker): string =>
  `pid ${pid} (${name || "without application_name"}, query since ${queryStart?.toISOString() ?? "an unknown time"})`;

/** The session that the migration waits for now; null if it does not wait. */
export async function findBlocker(client: pg.Client): Promise<Blocker | null> {
  const { rows } = await client.query<Blocker>(
    `select blocking.pid, b.application_name as name, b.query_start as "queryStart"
     from pg_stat_activity w
       cross join lateral unnest(pg_blocking_pids(w.pid)) as blocking (pid)
       left join pg_stat_activity b on b.pid = blocking.pid
     where w.datname = current_database() and w.application_name = $1 and w.wait_event_type = 'Lock'
     order by b.query_start limit 1`,
    [migrationSession],
  );
  return rows[0] ?? null;
}
