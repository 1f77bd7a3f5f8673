import {
  PostgresDialect,
  PostgresDriver,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import pg from "pg";
import { withTimeout } from "../server/platform/time/deadline.ts";

/** A statement, with what its session needs beyond the text. */
export interface Statement extends CompiledQuery {
  /** Sessions parse and plan the statement once, under this name. */
  readonly statementName?: string;
  /** Extra time for answers until the transaction ends, in milliseconds. */
  readonly extraAnswerMs?: number;
}

export interface AnswerLimit {
  /** A session that does not answer a statement within this time is closed; absent = no limit. */
  answerLimitMs?: number;
}

/** SQLSTATE of a refused write: the server is a standby or set to read only. */
export const readOnlyState = "25006";
/** Commands whose row count is a number of affected rows. */
const writes: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** A connection of the pool, from its checkout to its release. */
class Session implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #answerLimitMs: number | undefined;
  #extraAnswerMs = 0;
  #isBroken = false;
  #isReleased = false;

  constructor(client: pg.PoolClient, answerLimitMs: number | undefined) {
    this.#client = client;
    this.#answerLimitMs = answerLimitMs;
  }

  async executeQuery<R>(statement: Statement): Promise<QueryResult<R>> {
    if (statement.extraAnswerMs !== undefined) this.#extraAnswerMs = statement.extraAnswerMs;
    try {
      const { command, rowCount, rows } = await this.#send(statement);
      // A query of several statements has several results, which no caller reads.
      if (!writes.has(command)) return { rows: rows ?? [] };
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  #send({ sql: text, parameters, statementName }: Statement): Promise<pg.QueryResult> {
    if (this.#isBroken) throw new Error("Connection is closed");
    const values = [...parameters];
    const answer = this.#client.query(
      statementName === undefined ? { text, values } : { name: statementName, text, values },
    );
    if (this.#answerLimitMs === undefined) return answer;
    return withTimeout(answer, this.#answerLimitMs + this.#extraAnswerMs);
  }

  #noteFailure(error: unknown): void {
    if (error instanceof pg.DatabaseError) {
      // These fields quote row values, and errors are logged (S27).
      error.detail = undefined;
      error.where = undefined;
      // A writable server may have taken over the address; only a new connection reaches it.
      if (error.code === readOnlyState) this.discard();
    } else {
      // Postgres did not send this error: the connection was lost, or the server stopped answering (S37).
      this.discard();
    }
  }

  /** Closes the connection on release, which also ends its transaction. */
  discard(): void {
    this.#isBroken = true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#client.release(this.#isBroken);
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("Results are read as a whole");
  }
}

/** Closes sessions when Postgres stops answering or accepting writes; otherwise this is Kysely's driver. */
class SessionDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #answerLimitMs: number | undefined;
  readonly #commands: PostgresDriver;

  constructor(pool: pg.Pool, { answerLimitMs }: AnswerLimit) {
    this.#pool = pool;
    this.#answerLimitMs = answerLimitMs;
    this.#commands = new PostgresDriver({ pool });
  }

  init = () => this.#commands.init();
  destroy = () => this.#commands.destroy();

  async acquireConnection(): Promise<Session> {
    return new Session(await this.#pool.connect(), this.#answerLimitMs);
  }

  async releaseConnection(session: Session): Promise<void> {
    session.release();
  }

  /** Kysely never releases a connection whose controlled transaction failed to begin. */
  async beginTransaction(session: Session, settings: TransactionSettings): Promise<void> {
    try {
      await this.#commands.beginTransaction(session, settings);
    } catch (error) {
      session.discard();
      session.release();
      throw error;
    }
  }

  async commitTransaction(session: Session): Promise<void> {
    await this.#commands.commitTransaction(session);
  }

  /** Kysely never releases a connection whose rollback failed. Closing it rolls back as well. */
  async rollbackTransaction(session: Session): Promise<void> {
    await this.#commands.rollbackTransaction(session).catch(() => session.discard());
  }

  savepoint: PostgresDriver["savepoint"] = (...args) => this.#commands.savepoint(...args);
  rollbackToSavepoint: PostgresDriver["rollbackToSavepoint"] = (...args) =>
    this.#commands.rollbackToSavepoint(...args);
  releaseSavepoint: PostgresDriver["releaseSavepoint"] = (...args) =>
    this.#commands.releaseSavepoint(...args);
}

/** Connections of a pool; `idleCount` of the `totalCount`. */
export type PoolCounts = Pick<pg.Pool, "totalCount" | "idleCount" | "waitingCount" | "options">;

export type PoolOptions = pg.PoolConfig & AnswerLimit;

/** Dialect with its own pool; connection errors outside statements go to `warn`. */
export class SessionDialect extends PostgresDialect {
  readonly options: PoolOptions;
  readonly #pool: pg.Pool;

  constructor(options: PoolOptions, warn: (message: string) => void) {
    const pool = new pg.Pool(options);
    super({ pool });
    this.options = options;
    this.#pool = pool;
    // Without a listener, a connection dropped by Postgres would end the process.
    pool.on("error", ({ message }) => warn(`PostgreSQL pool error: ${message}`));
    pool.on("connect", (client) => {
      client.on("error", ({ message }) => warn(`PostgreSQL connection error: ${message}`));
    });
  }

  /** Counts of its connections, always current. */
  get pool(): PoolCounts {
    return this.#pool;
  }

  override createDriver(): SessionDriver {
    return new SessionDriver(this.#pool, this.options);
  }
}
