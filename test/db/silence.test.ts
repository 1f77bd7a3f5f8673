import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { parseDatabaseUrl } from "../../server/core/database-url.ts";
import { silentLogger } from "../../server/core/logger.ts";
import { isUnavailable } from "../../server/http/failures.ts";
import { testDatabase } from "../support/stores.ts";

describe("a database that is gone without a word", () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  const open: Socket[] = [];
  const server = createServer((socket) => {
    const behind = connect(join(parseDatabaseUrl(database.url).host, ".s.PGSQL.5432"));
    open.push(socket, behind);
    for (const one of [socket, behind]) one.on("error", () => {});
    socket.pipe(behind).pipe(socket);
  });
  /** From now on nothing comes through the connections there are; new ones are as good as ever. */
  const silence = () => {
    for (const one of open) one.unpipe();
  };
  before(async () => {
    database = await testDatabase();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(async () => {
    for (const one of open) one.destroy();
    server.close();
    await database.drop();
  });

  it("is given up on that connection, and asked on another", async () => {
    const { user, database: name } = parseDatabaseUrl(database.url);
    const { port } = server.address() as AddressInfo;
    const url = `postgres://${user}@127.0.0.1:${port}/${name}?sslmode=disable`;
    const config = { DATABASE_URL: url, DATABASE_POOL: 1 };
    const orm = await createOrm(config, silentLogger, { answerLimitMs: 300 });
    const ask = () => rowsOf(orm.em.fork(), sql<{ one: number }>`select 1 as one`);
    try {
      assert.deepEqual(await ask(), [{ one: 1 }]);
      silence();
      await assert.rejects(ask(), (error: unknown) => isUnavailable(error));
      assert.deepEqual(await ask(), [{ one: 1 }]);
    } finally {
      await orm.close(true);
    }
  });
});
