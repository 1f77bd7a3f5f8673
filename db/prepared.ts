import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import type { Statement } from "./driver.ts";
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
  const statementName = nameOf(compiled.sql);
  const statement: Statement = statementName === null ? compiled : { ...compiled, statementName };
  return (await inShare(em, () => kysely.executeQuery<T>(statement))).rows;
}

function nameOf(text: string): string | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= maxPrepared) return null;
  const name = `emberline_${hash("sha1", text, "base64url")}`;
  names.set(text, name);
  return name;
}

/**
 * Gives each statement of this transaction so long instead of the usual time; its connection waits for the answers
 * as much longer. Postgres may take what a job asks for minutes, but not a server that is gone.
 */
export async function allowSeconds(em: EntityManager, seconds: number): Promise<void> {
  const kysely = em.getKysely();
  const compiled = sql.raw(`set local statement_timeout = '${seconds}s'`).compile(kysely);
  const statement: Statement = { ...compiled, extraAnswerMs: seconds * 1_000 };
  await kysely.executeQuery(statement);
}
