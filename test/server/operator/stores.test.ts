import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { createOrm, readDatabaseState } from "../../../db/orm.ts";
import { parseConfig } from "../../../server/core/config.ts";
import { silentLogger } from "../../../server/core/logger.ts";
import { connectRedis, redisReady } from "../../../server/core/redis.ts";
import { isUnavailable } from "../../../server/http/failures.ts";
import { withClient } from "../../../server/local/postgres.ts";
import { readStores } from "../../../server/operator/stores.ts";
import { testStores, type TestStores } from "../../support/stores.ts";

describe("the state of the stores, as operators see it", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  const well = { state: async () => "ok" as const };

  it("is read only for a Redis that is full or a replica, and well again afterwards", async () => {
    assert.equal((await readStores(redis, well)).redis, "ok");
    await redis.config("SET", "maxmemory", "1");
    assert.equal((await readStores(redis, well)).redis, "read_only");
    await redis.config("SET", "maxmemory", "0");
    await redis.replicaof("127.0.0.1", 1);
    assert.equal((await readStores(redis, well)).redis, "read_only");
    await redis.replicaof("NO", "ONE");
    assert.equal((await readStores(redis, well)).redis, "ok");
  });

  it("is read only for a Postgres that takes no writes, whose refusals are a 503", async () => {
    const orm = await createOrm(parseConfig({ DATABASE_URL: stores.databaseUrl }));
    const name = new URL(stores.databaseUrl.replace("postgres:///", "postgres://x/")).pathname;
    const setTo = (mode: string) =>
      withClient(stores.databaseUrl, (client) =>
        client.query(
          `alter database "${name.slice(1)}" set default_transaction_read_only = ${mode}`,
        ),
      );
    await setTo("on");
    try {
      const state = () => readDatabaseState(orm, 5_000);
      assert.equal((await readStores(redis, { state })).postgres, "read_only");
      const write = orm.em.fork().execute("insert into realms (slug, name) values ('x', 'X')");
      await assert.rejects(write, (error: unknown) => isUnavailable(error));
    } finally {
      await orm.close(true);
    }
  });

  it("is away for a store that cannot be asked", async () => {
    const nobody = connectRedis("redis://127.0.0.1:1", silentLogger, "test");
    const gone = { state: () => Promise.reject(new Error("gone")) };
    assert.deepEqual(await readStores(nobody, gone), { postgres: "away", redis: "away" });
    nobody.disconnect();
  });
});
