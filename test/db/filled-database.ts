import type { MikroORM } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { starts } from "../support/cleanup.ts";
import { testDatabase } from "../support/stores.ts";

export interface FilledDatabase {
  /** With one connection, so that statements of one test follow each other. */
  orm: MikroORM;
  stop(): Promise<void>;
}

/** A database of its own with the rows of these statements, of which the planner knows. */
export const filledDatabase = (
  statements: readonly RawBuilder<unknown>[] = [],
): Promise<FilledDatabase> => starts(() => makeDatabase(statements));

async function makeDatabase(statements: readonly RawBuilder<unknown>[]): Promise<FilledDatabase> {
  const database = await testDatabase();
  const orm = await createOrm({ DATABASE_URL: database.url, DATABASE_POOL: 1 });
  const em = orm.em.fork();
  for (const statement of statements) await rowsOf(em, statement);
  if (statements.length > 0) await rowsOf(em, sql`analyze`);
  return {
    orm,
    stop: async () => {
      await orm.close(true);
      await database.drop();
    },
  };
}
