import type { EntityManager } from "@mikro-orm/postgresql";
import type { Compilable, Kysely, RawBuilder } from "kysely";
import type { Database } from "../database.ts";
import { inShare } from "../shared-entity-manager.ts";

/** The typed query builder. */
export type Builder = Kysely<Database>;
/** One statement, built with the query builder. */
export type Build<T> = (db: Builder) => Compilable<T>;

/** Rows of one statement, run in the transaction of `em` if there is one. */
export async function findRows<T>(em: EntityManager, build: Build<T>): Promise<T[]> {
  return (await run(em, build)).rows;
}

/** The first row of one statement, or null. */
export async function findRow<T>(em: EntityManager, build: Build<T>): Promise<T | null> {
  return (await run(em, build)).rows[0] ?? null;
}

/** Runs an insert, update or delete and returns the number of affected rows. */
export async function changeRows(em: EntityManager, build: Build<unknown>): Promise<number> {
  return Number((await run(em, build)).numAffectedRows ?? 0);
}

function run<T>(em: EntityManager, build: Build<T>) {
  const kysely = em.getKysely<Database>();
  return inShare(em, () => kysely.executeQuery(build(kysely)));
}

/** Rows of a raw SQL statement that the query builder cannot express. */
export async function rowsOf<T>(em: EntityManager, query: RawBuilder<T>): Promise<T[]> {
  return (await inShare(em, () => query.execute(em.getKysely()))).rows;
}
