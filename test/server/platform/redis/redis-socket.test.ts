import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { eventually } from "../../../support/eventually.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

describe("the socket of a Redis connection", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "socket");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  it("sends commands issued just before it is closed", async () => {
    const last = connectRedis(stores.redisUrl, silentLogger, "last");
    await redisReady(last);
    const stored = last.set("last", "words");
    last.disconnect();
    await stored.catch(() => undefined);
    // The two connections are read in any order.
    await eventually("it is stored", async () => (await redis.get("last")) === "words");
  });
});
