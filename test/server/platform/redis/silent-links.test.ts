import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createChannels } from "../../../../server/platform/redis/create-channels.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, publish, redisReady } from "../../../../server/platform/redis/redis.ts";
import { eventually } from "../../../support/eventually.ts";
import { startProxy } from "../../../support/proxy.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

/** Reduced from the service's 5 s. */
const detectionTimeoutMs = 1_000;

describe("a subscriber connection", { concurrency: true }, () => {
  let stores: TestStores;
  before(async () => {
    stores = await testStores();
  });
  after(() => stores.stop());

  const kinds = { "as the library makes it": "", "of the older protocol": "?protocol=2" };
  for (const [kind, query] of Object.entries(kinds))
    it(`reconnects when its link goes silent: ${kind}`, async () => {
      const channel = `silent-links: ${kind}`;
      let confirmations = 0;
      let isConfirmedAlive = false;
      const proxy = await startProxy({ path: stores.redisUrl.slice("unix://".length) });
      const channels = createChannels({
        url: `redis://127.0.0.1:${proxy.port}/${query}`,
        log: silentLogger,
        name: "silent-links",
        onMessage: (_, text) => void (isConfirmedAlive ||= text === "heard"),
        confirmed: () => void (confirmations += 1),
        detectionTimeoutMs,
      });
      const publisher = connectRedis(stores.redisUrl, silentLogger, "test");
      try {
        await redisReady(publisher);
        channels.follow(channel);
        await eventually("the subscription is confirmed", () => confirmations > 0);
        await delay(2 * detectionTimeoutMs);
        assert.equal(confirmations, 1, "a link on which nothing happens is sound");
        proxy.silence();
        await publish(publisher, channel, "unheard");
        // Without a health check the silence is never noticed.
        await eventually("a message is heard", async () => {
          await publish(publisher, channel, "heard");
          return isConfirmedAlive;
        });
      } finally {
        channels.close();
        publisher.disconnect();
        await proxy.stop();
      }
    });
});
