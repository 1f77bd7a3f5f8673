import { after, before } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { createOrm } from "../../db/orm.ts";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { testStores, type TestStores } from "../support/stores.ts";

/** An empty database for the tests of the surrounding `describe`, which migrate it as far as they need. */
export function emptyDatabase(label: string) {
  let stores: TestStores;
  const name = `${label}_${process.pid}`;
  before(async () => {
    stores = await testStores();
    await withClient(stores.databaseUrl, (client) => client.query(`create database ${name}`));
  });
  after(async () => {
    await withClient(stores.databaseUrl, (client) =>
      client.query(`drop database if exists ${name} with (force)`),
    );
    await stores.stop();
  });
  return {
    /** Hands `use` an ORM on the database, and closes it. */
    async withOrm(use: (orm: MikroORM) => Promise<void>): Promise<void> {
      const url = withDatabase(stores.databaseUrl, name);
      const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 2 });
      try {
        await use(orm);
      } finally {
        await orm.close(true);
      }
    },
  };
}
