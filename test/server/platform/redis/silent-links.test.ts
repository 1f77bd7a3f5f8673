import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createChannels } from "../../../../server/platform/redis/create-channels.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, publish, redisReady } from "../../../../server/platform/redis/redis.ts";
import { startProxy } from "../../../support/proxy.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

/** Reduced from the service's 20 s. */
const detectionTimeoutMs = 1_000;
/** Generous for a busy machine; without a health check the silence is never noticed. */
const inTime = () => ({ signal: AbortSignal.timeout(15_000) });

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
      const events = new EventEmitter();
      const proxy = await startProxy({ path: stores.redisUrl.slice("unix://".length) });
      const channels = createChannels({
        url: `redis://127.0.0.1:${proxy.port}/${query}`,
        log: silentLogger,
        name: "silent-links",
        hear: (_, text) => events.emit(text),
        confirmed: () => events.emit("confirmed"),
        detectionTimeoutMs,
      });
      const publisher = connectRedis(stores.redisUrl, silentLogger, "test");
      try {
        const first = once(events, "confirmed", inTime());
        await redisReady(publisher);
        channels.follow(channel);
        await first;
        let renewals = 0;
        events.on("confirmed", () => (renewals += 1));
        await delay(2 * detectionTimeoutMs);
        assert.equal(renewals, 0, "a link on which nothing happens is sound");
        proxy.silence();
        await publish(publisher, channel, "unheard");
        await once(events, "confirmed", inTime());
        const received = once(events, "heard", inTime());
        await publish(publisher, channel, "heard");
        await received;
      } finally {
        channels.close();
        publisher.disconnect();
        await proxy.stop();
      }
    });
});
