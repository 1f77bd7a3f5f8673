import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { StartError } from "../../../../server/runtime/boot/start-error.ts";
import { checkRedisPersistence } from "../../../../server/runtime/stores/redis.ts";
import { freePort } from "../../../support/free-port.ts";
import { openStores } from "../../../support/store-ports.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

describe("a Redis that a start checks", () => {
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

  it("is refused while it is a replica", async () => {
    await redis.replicaof("127.0.0.1", 1);
    try {
      await assert.rejects(
        checkRedisPersistence(stores.redisUrl),
        new StartError(
          "REDIS_URL leads to a replica, which refuses writes: give an address that leads to the master",
        ),
      );
    } finally {
      await redis.replicaof("NO", "ONE");
    }
    assert.equal(await checkRedisPersistence(stores.redisUrl), null);
  });

  it("says that it is no cluster", async () => {
    const { urls, servers } = await openStores(stores);
    try {
      const url = urls.REDIS_URL.replace(/^redis:/, "redis+cluster:");
      await assert.rejects(checkRedisPersistence(url), {
        message:
          "no node of the cluster names its slots: ERR This instance has cluster support disabled",
      });
    } finally {
      for (const server of servers) server.close();
    }
  });

  it("says why a connection was not ready in time", async () => {
    const port = await freePort();
    const nobody = connectRedis(`redis://127.0.0.1:${port}`, silentLogger, "test");
    try {
      await assert.rejects(redisReady(nobody, 200), {
        message: `connect ECONNREFUSED 127.0.0.1:${port}`,
      });
    } finally {
      nobody.disconnect();
    }
  });
});
