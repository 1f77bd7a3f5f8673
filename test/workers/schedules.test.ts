import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { maintenance } from "../../workers/queues.ts";
import { registerSchedules, schedules } from "../../workers/schedules.ts";
import { eventually } from "../support/eventually.ts";
import { testStores, type TestStores } from "../support/stores.ts";

/** Instead of a minute. */
const againMs = 50;

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

  it("are registered again after Redis lost them, and are not delayed otherwise", async () => {
    let calls = 0;
    const end = await registerSchedules(
      {
        schedule: async (definition, payload, everyMs) => {
          await queues.schedule(definition, payload, everyMs);
          calls++;
        },
      },
      silentLogger,
      againMs,
    );
    try {
      const before = await known();
      assert.equal(before?.length, schedules.length);
      await eventually("they are registered once more", () => calls >= 2 * schedules.length);
      assert.deepEqual(await known(), before);
      await redis.flushall();
      await eventually("all are back", async () => (await known())?.length === schedules.length);
    } finally {
      end();
    }
  });
});
