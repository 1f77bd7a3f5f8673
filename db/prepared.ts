import { hash } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import pg from "pg";
import { inShare } from "./shared-entity-manager.ts";

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
  return (await inShare(em, () => kysely.executeQuery(compiled))).rows;
}

/**
 * Gives each statement of this transaction so long instead of the usual time; its connection waits for the answers
 * as much longer. Postgres may take what a job asks for minutes, but not a server that is gone.
 */
export async function allowSeconds(em: EntityManager, seconds: number): Promise<void> {
  await sql.raw(`set local statement_timeout = '${seconds}s'`).execute(em.getKysely());
}

const allowing = /^set local statement_timeout = '(\d+)s'$/;

type Ask = (statement: unknown, ...rest: unknown[]) => unknown;

export interface AnswerLimit {
  /** Milliseconds; absent = any number. */
  answerLimitMs?: number;
}

/** What the library has of a connection, and does not declare. */
type Wire = EventEmitter & { stream: Socket };

/** What Postgres says to a write where it takes none: a standby, or a server that is set so. */
export const readOnlyState = "25006";
/** How the library begins a transaction, and takes it back. */
const beginning = /^(?:begin$|start transaction)/;
const takingBack = "rollback";
/** What Postgres says when no transaction is open. */
const outside = "I";
const nothing = { command: "", rowCount: null, rows: [], fields: [] };

/**
 * A session that asks by name for what `preparedRowsOf` gave one, and whose errors do not say which
 * values a row had: the library would write them into the message, and so into the log (S27).
 */
export class PreparingClient extends pg.Client {
  /** A statement was sent and its answer is not in. */
  private isAsked = false;
  /** How much later than usual an answer may come. */
  private waitLonger: (moreMs: number) => void = () => {};
  private isAllowedMore = false;

  constructor(config?: pg.ClientConfig & AnswerLimit) {
    super(config);
    const ask = this.query.bind(this) as Ask;
    const askByName: Ask = (statement, ...rest) => {
      const name = typeof statement === "string" ? names.get(statement) : undefined;
      this.isAsked = true;
      const [, seconds] = typeof statement === "string" ? (allowing.exec(statement) ?? []) : [];
      if (seconds !== undefined) this.allow(Number(seconds));
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
      // Another server, which takes writes, may be at the address by now; this session would never know.
      if (error.code === readOnlyState) void this.end();
    });
    connection.on("readyForQuery", ({ status }: { status: string }) => {
      this.isAsked = false;
      if (status === outside && this.isAllowedMore) this.allow(0);
    });
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

  private allow(seconds: number): void {
    this.isAllowedMore = seconds > 0;
    this.waitLonger(seconds * 1_000);
  }

  /**
   * A server that vanishes without a word leaves its connections as they are, for a quarter of an hour: each
   * would keep the request that asked, and its place in the pool, however well a new connection would do (S37).
   */
  private closeWhenSilent({ stream }: Wire, ms: number): void {
    let limitMs = ms;
    this.waitLonger = (moreMs) => stream.setTimeout((limitMs = ms + moreMs));
    stream.setTimeout(limitMs);
    stream.on("timeout", () => {
      // Nothing is waited for; the clock of a socket runs once.
      if (!this.isAsked) return stream.setTimeout(limitMs);
      const reason = new Error("Postgres does not answer");
      return stream.destroy(Object.assign(reason, { code: "ETIMEDOUT" }));
    });
  }
}
