import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { createOrm, readDatabaseState } from "../../../db/orm.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { isUnavailable } from "../../../server/http/pipeline/failures.ts";
import { withClient } from "../../../server/runtime/stores/postgres.ts";
import { readStores } from "../../../server/operator/health/stores.ts";
import { testStores, type TestStores } from "../../support/stores.ts";

describe("the store state shown to operators", () => {
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

  const healthy = { state: async () => "ok" as const };

  it("is read-only for a Redis that is full or a replica, and ok again afterwards", async () => {
    assert.equal((await readStores(redis, healthy)).redis, "ok");
    await redis.config("SET", "maxmemory", "1");
    assert.equal((await readStores(redis, healthy)).redis, "read_only");
    await redis.config("SET", "maxmemory", "0");
    await redis.replicaof("127.0.0.1", 1);
    assert.equal((await readStores(redis, healthy)).redis, "read_only");
    await once(redis, "ready");
    await redis.replicaof("NO", "ONE");
    assert.equal((await readStores(redis, healthy)).redis, "ok");
  });

  it("checks a Redis that refuses writes over a new connection, but not for each refusal", async () => {
    const client = connectRedis(stores.redisUrl, silentLogger, "test");
    const refused = () => assert.rejects(client.set("a", 1), /^ReplyError: READONLY /);
    try {
      await redisReady(client);
      const first = await client.client("ID");
      await redis.replicaof("127.0.0.1", 1);
      const ready = once(client, "ready", { signal: AbortSignal.timeout(5_000) });
      await refused();
      await ready;
      const second = await client.client("ID");
      assert.notEqual(second, first);
      await refused();
      await refused();
      assert.equal(await client.client("ID"), second);
    } finally {
      await redis.replicaof("NO", "ONE");
      client.disconnect();
    }
  });

  describe("a Postgres that refuses writes", () => {
    // A session keeps its initial mode, like one to a server that was replaced by another.
    const setTo = (mode: string) =>
      withClient(stores.databaseUrl, async (client) => {
        await client.query("set default_transaction_read_only = off");
        const { rows } = await client.query<{ name: string }>("select current_database() as name");
        const setting = `default_transaction_read_only = ${mode}`;
        await client.query(`alter database ${rows[0]?.name ?? ""} set ${setting}`);
      });
    const write = "update realms set name = name where slug = 'nobody'";
    const uses = {
      "a statement": (orm: MikroORM) => orm.em.fork().execute(write),
      "a transaction": (orm: MikroORM) => orm.em.fork().transactional((em) => em.execute(write)),
      "a look at it": async (orm: MikroORM) =>
        assert.equal(await readDatabaseState(orm, 5_000), "ok"),
    };

    for (const [name, use] of Object.entries(uses))
      it(`is read only, and asked on a new connection after ${name} was refused`, async () => {
        await setTo("on");
        const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 1 });
        const state = () => readDatabaseState(orm, 5_000);
        try {
          assert.equal((await readStores(redis, { state })).postgres, "read_only");
          const refused = orm.em.fork().execute(write);
          await assert.rejects(refused, (error: unknown) => isUnavailable(error));
          await orm.em.fork().execute("select 1");
          await setTo("off");
          await assert.rejects(use(orm));
          await use(orm);
          assert.equal((await readStores(redis, { state })).postgres, "ok");
        } finally {
          await orm.close(true);
        }
      });
  });

  it("is unavailable for a Postgres that refuses connections, and its refusals are a 503", async () => {
    const url = new URL(stores.databaseUrl);
    url.searchParams.set("user", "nobody");
    const orm = await createOrm({ DATABASE_URL: url.href, DATABASE_POOL: 1 });
    const state = () => readDatabaseState(orm, 5_000);
    const refused = orm.em.fork().execute("select 1");
    await assert.rejects(refused, (error: unknown) => isUnavailable(error));
    assert.equal((await readStores(redis, { state })).postgres, "away");
    await orm.close(true);
  });

  it("counts the errors of a pooler that cannot reach Postgres as a 503", async () => {
    const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 1 });
    const refused = orm.em.fork().execute(`do $$ begin
      raise 'server login has been failing, try again later' using errcode = '08P01';
    end $$`);
    await assert.rejects(refused, (error: unknown) => isUnavailable(error));
    await orm.close(true);
  });

  it("is unavailable for a store that does not answer", async () => {
    const unreachable = connectRedis("redis://127.0.0.1:1", silentLogger, "test");
    const gone = { state: () => Promise.reject(new Error("gone")) };
    assert.deepEqual(await readStores(unreachable, gone), { postgres: "away", redis: "away" });
    unreachable.disconnect();
  });
});
