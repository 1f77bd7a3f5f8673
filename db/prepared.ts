import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type Compilable, type CompiledQuery, type Kysely, type RawBuilder } from "kysely";
import type { Database } from "./database.ts";
import type { Statement } from "./driver.ts";
import { inShare } from "./shared-entity-manager.ts";

/** Maximum number of prepared statements per session; later ones are planned on each call. */
const maxPrepared = 200;
/** Text -> name, equal in every process: a pooler between us and Postgres may share their sessions. */
const names = new Map<string, string>();

/** What a prepared statement is built from: the query builder or raw SQL. */
interface Source<T> {
  compile(db: Kysely<Database>): CompiledQuery<T>;
}

/** Runs a prepared statement with values. */
type Run<V, T> = (em: EntityManager, values: V) => Promise<T[]>;

/** Represents a value of a prepared statement while it is built. */
class Placeholder {
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    this.path = path;
  }

  valueIn(values: unknown): unknown {
    return this.path.reduce((value, name): unknown => Reflect.get(Object(value), name), values);
  }
}

/** Values may be objects: their members become placeholders too. */
const placeholder = (path: readonly string[]): object =>
  new Proxy(new Placeholder(path), {
    get: (own, name) =>
      typeof name === "symbol" || name in own
        ? Reflect.get(own, name)
        : placeholder([...path, name]),
    ownKeys: () => {
      throw new TypeError("The values of a prepared statement are not known while it is built");
    },
  });

/**
 * A hot statement of the query builder: built and compiled once per process, parsed and planned once per
 * session, which is most of the cost of a short statement. Prepared, a question by id took 25 us of
 * Postgres' processor instead of 110, an award 83 instead of 928. The statement must not depend on
 * `values`, each of which becomes a parameter.
 */
export function prepared<V extends object, T>(
  build: (db: Kysely<Database>, values: V) => Compilable<T>,
): Run<V, T> {
  return once(build);
}

/** Like `prepared`, for raw SQL that the builder cannot express. */
export function preparedText<V extends object, T>(build: (values: V) => RawBuilder<T>): Run<V, T> {
  return once((_, values) => build(values));
}

function once<V extends object, T>(
  build: (db: Kysely<Database>, values: V) => Source<T>,
): Run<V, T> {
  let known: Statement | null = null;
  const compile = (db: Kysely<Database>): Statement => {
    // The cast lasts only for the build: the builder accepts any object as a parameter.
    return named(build(db, placeholder([]) as V).compile(db));
  };
  return async (em, values) => {
    const kysely = em.getKysely<Database>();
    const statement = (known ??= compile(kysely));
    const parameters = statement.parameters.map((value): unknown =>
      value instanceof Placeholder ? value.valueIn(values) : value,
    );
    const { rows } = await inShare(em, () => kysely.executeQuery<T>({ ...statement, parameters }));
    return rows;
  };
}

/** Like `rowsOf`, for statements with few text variants: each variant is planned once per session. */
export async function preparedRowsOf<T>(em: EntityManager, query: RawBuilder<T>): Promise<T[]> {
  const kysely = em.getKysely();
  const statement = named(query.compile(kysely));
  return (await inShare(em, () => kysely.executeQuery<T>(statement))).rows;
}

function named(compiled: CompiledQuery): Statement {
  const statementName = nameOf(compiled.sql);
  return statementName === null ? compiled : { ...compiled, statementName };
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
 * Sets the statement timeout of this transaction and extends the connection's answer limit by as much. A
 * job's statement may run for minutes, but a dead server is still noticed.
 */
export async function setStatementTimeout(em: EntityManager, seconds: number): Promise<void> {
  const kysely = em.getKysely();
  const compiled = sql.raw(`set local statement_timeout = '${seconds}s'`).compile(kysely);
  const statement: Statement = { ...compiled, extraAnswerMs: seconds * 1_000 };
  await kysely.executeQuery(statement);
}
