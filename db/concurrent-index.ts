import { Migration } from "@mikro-orm/migrations";
import { sql, type Kysely } from "kysely";
import { migrationSession } from "./migration-session.ts";

/** An hour: the build waits for every open transaction, and blocks no request. */
const buildLimitMs = 3_600_000;

/**
 * A migration that only makes an index on a table that existed before (BOOT-21). The build runs beside writes, therefore
 * outside a transaction; so it is alone, and may run again after it failed or its record was lost.
 */
export abstract class ConcurrentIndex extends Migration {
  protected abstract readonly indexName: string;
  /** What follows `on`, such as `players (upgraded_at) where upgraded_at is not null`. */
  protected abstract readonly on: string;
  protected readonly isUnique: boolean = false;

  override isTransactional(): boolean {
    return false;
  }

  /** The statement of `up`. */
  get statement(): string {
    const kind = this.isUnique ? "unique index" : "index";
    return `create ${kind} concurrently if not exists "${this.indexName}" on ${this.on}`;
  }

  override up(): Promise<void> {
    return this.#inSession(async (db) => {
      // A build that failed leaves an index that writes maintain and no read uses.
      const { rows } = await sql`select 1 from pg_index
        where indexrelid = to_regclass(${`"${this.indexName}"`}) and not indisvalid`.execute(db);
      if (rows.length > 0) await this.#drop(db);
      await sql.raw(this.statement).execute(db);
    });
  }

  override down(): Promise<void> {
    return this.#inSession((db) => this.#drop(db));
  }

  async #drop(db: Kysely<unknown>): Promise<void> {
    await sql`drop index concurrently if exists ${sql.id(this.indexName)}`.execute(db);
  }

  /** Without a transaction the settings last as long as the connection, so they are taken back. */
  async #inSession(work: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
    const pool: Kysely<unknown> = this.getEntityManager().getKysely();
    await pool.connection().execute(async (db) => {
      await sql`select set_config('statement_timeout', ${String(buildLimitMs)}, false),
        set_config('application_name', ${migrationSession}, false)`.execute(db);
      try {
        await work(db);
      } finally {
        await sql`reset statement_timeout`.execute(db);
        await sql`reset application_name`.execute(db);
      }
    });
  }
}
