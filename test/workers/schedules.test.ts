import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { maintenance } from "../../workers/queues.ts";
import { registerSchedules, schedules } from "../../workers/schedules.ts";
import { testStores, type TestStores } from "../support/stores.ts";

describe("the periodic jobs", () => {
  let stores: TestStores;
  let redis: Redis;
  let queues: Queues;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    queues = createQueues(stores.redisUrl, silentLogger);
  });
  after(async () => {
    await queues.close();
    redis.disconnect();
    await stores.stop();
  });

  const known = async () => {
    const queue = queues.all().find(({ name }) => name === maintenance.name);
    return (await queue?.getJobSchedulers())?.map(({ key, next }) => ({ key, next }));
  };

  it("are registered again after Redis lost them, and are not delayed otherwise", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    let calls = 0;
    let asked = Promise.withResolvers<void>();
    const end = await registerSchedules(
      {
        schedule: async (definition, payload, everyMs) => {
          await queues.schedule(definition, payload, everyMs);
          if (++calls % schedules.length === 0) asked.resolve();
        },
      },
      silentLogger,
    );
    const before = await known();
    assert.equal(before?.length, schedules.length);
    const again = async () => {
      asked = Promise.withResolvers<void>();
      t.mock.timers.tick(60_000);
      await asked.promise;
      return known();
    };
    assert.deepEqual(await again(), before);
    await redis.flushall();
    assert.equal((await again())?.length, schedules.length);
    end();
  });
});
