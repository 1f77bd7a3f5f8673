import assert from "node:assert/strict";
import { it } from "node:test";
import { Redis } from "ioredis";
import { createListener } from "../../../actors/wire/listener.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { testStores } from "../../support/stores.ts";

it("a listener reports lost subscriptions when they resume, and not when they first start", async () => {
  const stores = await testStores();
  const redis = new Redis({ path: stores.redisUrl.replace("unix://", "") });
  const listener = createListener(stores.redisUrl, silentLogger, "test-subscriber");
  try {
    const resumed = Promise.withResolvers<void>();
    let count = 0;
    const onResumed = () => {
      count += 1;
      resumed.resolve();
    };
    await listener.listen(["one", "two"], () => undefined, onResumed);
    assert.equal(count, 0);
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    await resumed.promise;
    assert.equal(await redis.publish("two", "hello"), 1);
  } finally {
    listener.close();
    redis.disconnect();
    await stores.stop();
  }
});
