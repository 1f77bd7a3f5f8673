import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../db/orm.ts";
import { setStatementTimeout } from "../../db/prepared.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { isUnavailable } from "../../server/http/pipeline/failures.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { eventually } from "../support/eventually.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const answerLimitMs = 300;

/** A busy machine may answer later than the limit, so one statement in time is enough. */
const answers = (ask: () => Promise<unknown>) =>
  eventually("it answers in time", () =>
    ask().then(
      () => true,
      (error: unknown) => {
        assert.ok(isUnavailable(error), String(error));
        return false;
      },
    ),
  );

describe("a store that stops answering without closing its connections", () => {
  let stores: TestStores;
  const open: Socket[] = [];
  let path = "";
  const server = createServer((socket) => {
    const behind = connect(path);
    open.push(socket, behind);
    for (const one of [socket, behind]) one.on("error", () => {});
    socket.pipe(behind).pipe(socket);
  });
  /** From now on existing connections are silent; new ones work. */
  const silence = () => {
    for (const one of open) one.unpipe();
  };
  before(async () => {
    stores = await testStores();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(async () => {
    for (const one of open) one.destroy();
    server.close();
    await stores.stop();
  });

  const portBefore = (socket: string) => {
    path = socket;
    return (server.address() as AddressInfo).port;
  };

  it("times out on that connection and is used on another one: Postgres", async () => {
    const { user, database, host } = parseDatabaseUrl(stores.databaseUrl);
    const port = portBefore(join(host, ".s.PGSQL.5432"));
    const url = `postgres://${user}@127.0.0.1:${port}/${database}?sslmode=disable`;
    const config = { DATABASE_URL: url, DATABASE_POOL: 1 };
    const orm = await createOrm(config, silentLogger, { answerLimitMs });
    const ask = () => rowsOf(orm.em.fork(), sql<{ one: number }>`select 1 as one`);
    try {
      await answers(ask);
      silence();
      await assert.rejects(ask(), (error: unknown) => isUnavailable(error));
      await answers(ask);
    } finally {
      await orm.close(true);
    }
  });

  it("costs the pool no slot, at any stage of a transaction", async () => {
    const { user, database, host } = parseDatabaseUrl(stores.databaseUrl);
    const port = portBefore(join(host, ".s.PGSQL.5432"));
    const url = `postgres://${user}@127.0.0.1:${port}/${database}?sslmode=disable`;
    const config = { DATABASE_URL: url, DATABASE_POOL: 1 };
    const orm = await createOrm(config, silentLogger, { answerLimitMs });
    const ask = (em = orm.em.fork()) => rowsOf(em, sql<{ one: number }>`select 1 as one`);
    try {
      for (const moment of ["begin", "statement", "commit"]) {
        const reach = (now: string) => (now === moment ? silence() : undefined);
        await answers(ask);
        reach("begin");
        const work = orm.em.fork().transactional(async (em) => {
          reach("statement");
          await ask(em);
          reach("commit");
        });
        await assert.rejects(work, (error: unknown) => isUnavailable(error), moment);
        await answers(ask);
      }
    } finally {
      await orm.close(true);
    }
  });

  it("gets as much extra time as a transaction allows its statements", async () => {
    const { user, database, host } = parseDatabaseUrl(stores.databaseUrl);
    const port = portBefore(join(host, ".s.PGSQL.5432"));
    const url = `postgres://${user}@127.0.0.1:${port}/${database}?sslmode=disable`;
    const config = { DATABASE_URL: url, DATABASE_POOL: 1 };
    const orm = await createOrm(config, silentLogger, { answerLimitMs });
    const ask = (seconds: number) => sql`select pg_sleep(${seconds})`;
    try {
      const long = async (em: typeof orm.em) => {
        await setStatementTimeout(em, 60);
        await rowsOf(em, ask((3 * answerLimitMs) / 1_000));
      };
      await answers(() => orm.em.fork().transactional(long));
      const late = rowsOf(orm.em.fork(), ask(60));
      await assert.rejects(late, (error: unknown) => isUnavailable(error));
    } finally {
      await orm.close(true);
    }
  });

  it("times out on that connection and is used on another one: Redis", async () => {
    const port = portBefore(stores.redisUrl.replace("unix://", ""));
    const options = { socketTimeout: answerLimitMs };
    const redis = connectRedis(`redis://127.0.0.1:${port}`, silentLogger, "test", options);
    try {
      await redisReady(redis);
      silence();
      // Retried by the client itself, on the next connection.
      assert.equal(await redis.ping(), "PONG");
    } finally {
      redis.disconnect();
    }
  });
});
