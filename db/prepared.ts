import { hash } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { RawBuilder } from "kysely";
import pg from "pg";

/** Statements a session keeps at most; later ones are planned at each call like any other. */
const maxPrepared = 200;
/** Text -> name, the same in every process: a pooler between us and Postgres may mix their sessions. */
const names = new Map<string, string>();

/**
 * As `rowsOf`, for statements that run with every answer or payment: each session parses and plans
 * them once. Only for texts that are always the same, of which there are few.
 */
export async function preparedRowsOf<T>(em: EntityManager, query: RawBuilder<T>): Promise<T[]> {
  const kysely = em.getKysely();
  const compiled = query.compile(kysely);
  if (!names.has(compiled.sql) && names.size < maxPrepared)
    names.set(compiled.sql, `emberline_${hash("sha1", compiled.sql, "base64url")}`);
  return (await kysely.executeQuery(compiled)).rows;
}

type Ask = (statement: unknown, ...rest: unknown[]) => unknown;

export interface AnswerLimit {
  /** Milliseconds; absent = any number. */
  answerLimitMs?: number;
}

/** What the library has of a connection, and does not declare. */
type Wire = EventEmitter & { stream: Socket };

/** How the library begins a transaction, and takes it back. */
const beginning = /^(?:begin$|start transaction)/;
const takingBack = "rollback";
const nothing = { command: "", rowCount: null, rows: [], fields: [] };

/**
 * A session that asks by name for what `preparedRowsOf` gave one, and whose errors do not say which
 * values a row had: the library would write them into the message, and so into the log (S27).
 */
export class PreparingClient extends pg.Client {
  /** A statement was sent and its answer is not in. */
  private isAsked = false;

  constructor(config?: pg.ClientConfig & AnswerLimit) {
    super(config);
    const ask = this.query.bind(this) as Ask;
    const askByName: Ask = (statement, ...rest) => {
      const name = typeof statement === "string" ? names.get(statement) : undefined;
      this.isAsked = true;
      const answer = ask(name === undefined ? statement : { name, text: statement }, ...rest);
      const isEdge =
        typeof statement === "string" && (statement === takingBack || beginning.test(statement));
      return isEdge && answer instanceof Promise ? answer.catch(() => this.giveUp()) : answer;
    };
    this.query = askByName as typeof this.query;
    const { connection } = this as unknown as { connection: Wire };
    connection.on("errorMessage", (error: pg.DatabaseError) => {
      error.detail = undefined;
      error.where = undefined;
    });
    connection.on("readyForQuery", () => (this.isAsked = false));
    const { answerLimitMs } = config ?? {};
    if (answerLimitMs !== undefined)
      connection.once("readyForQuery", () => this.closeWhenSilent(connection, answerLimitMs));
  }

  /**
   * With the connection ends the transaction. When it cannot be begun or taken back, the library would keep
   * the connection for ever, and so a place in the pool for each transaction a dying server cut off. It is
   * told that all is well: whatever it asks next fails, and it gives the dead connection back.
   */
  private giveUp(): typeof nothing {
    (this as unknown as { connection: Wire }).connection.stream.destroy();
    return nothing;
  }

  /**
   * A server that vanishes without a word leaves its connections as they are, for a quarter of an hour: each
   * would keep the request that asked, and its place in the pool, however well a new connection would do (S37).
   */
  private closeWhenSilent({ stream }: Wire, ms: number): void {
    stream.setTimeout(ms);
    stream.on("timeout", () => {
      // Nothing is waited for; the clock of a socket runs once.
      if (!this.isAsked) return stream.setTimeout(ms);
      const reason = new Error("Postgres does not answer");
      return stream.destroy(Object.assign(reason, { code: "ETIMEDOUT" }));
    });
  }
}
