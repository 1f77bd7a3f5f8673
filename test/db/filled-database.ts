import type { MikroORM } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { starts } from "../support/cleanup.ts";
import { testDatabase } from "../support/stores.ts";

export interface FilledDatabase {
  /** One connection, so that the statements of a test run one after another. */
  orm: MikroORM;
  stop(): Promise<void>;
}

/** A separate database with the rows of these statements, analyzed for the planner. */
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
