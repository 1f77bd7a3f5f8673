import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { sharedBrowser } from "../support/browser.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";
import { startProxy, type Proxy } from "../support/proxy.ts";
import { acquireRedis, type TestRedis } from "../support/redis-server.ts";
import { testDatabase } from "../support/stores.ts";
import { Operator } from "./console-page.ts";

describe("the console on a phone while a store is away", () => {
  let service: Service;
  let operator: Operator;
  let redisServer: TestRedis;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let stores: Readonly<Record<"Redis" | "Postgres", Proxy>>;
  let paths: string[];

  before(async () => {
    [database, redisServer] = await Promise.all([
      testDatabase({ isStarted: true }),
      acquireRedis(),
    ]);
    const { host, port, user, database: name } = parseDatabaseUrl(database.url);
    stores = {
      Postgres: await startProxy({ path: `${host}/.s.PGSQL.${port}` }),
      Redis: await startProxy({ path: redisServer.url.replace("unix://", "") }),
    };
    service = await startService({
      env: {
        DATABASE_URL: `postgres://${user}@127.0.0.1:${stores.Postgres.port}/${name}`,
        REDIS_URL: `redis://127.0.0.1:${stores.Redis.port}`,
      },
    });
    const player = await newPlayer(service.url, "Grace");
    const code = await createLobby(player, { category: "science" });
    paths = [
      ...["", "/failures", "/queues", "/queues/mail", "/workers", "/rooms", "/audit"],
      ...[`/rooms/lobby/${code}`, `/players/${player.accountId}`, "/outbox", "/maintenance"],
    ].map((path) => `/operator${path}`);
    const browser = await sharedBrowser();
    assert.ok(browser);
    operator = await Operator.signIn(browser, service);
  });
  after(async () => {
    await operator.close();
    await service.stop();
    for (const proxy of Object.values(stores)) await proxy.stop();
    await Promise.all([database.drop(), redisServer.release()]);
  });

  for (const name of ["Redis", "Postgres"] as const)
    it(`shows every page whole without ${name}, and says since when it is away`, async () => {
      const store = stores[name];
      await store.holdAnswers("");
      try {
        for (const path of paths) {
          await operator.go(path);
          const notice = operator.page.getByText(`${name} has not responded since`).first();
          // The first page may come before anything has missed it.
          await notice
            .waitFor()
            .catch((cause: unknown) => assert.fail(`${path}: ${String(cause)}`));
          await operator.isWholeWhenNarrow();
        }
      } finally {
        store.release();
      }
    });
});
