import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { after, before, describe, it } from "node:test";
import { createChannels } from "../../../server/core/channels.ts";
import { silentLogger } from "../../../server/core/logger.ts";
import { connectRedis, publish, redisReady } from "../../../server/core/redis.ts";
import { mailCertificate } from "../../support/mail-certificate.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { startTlsFront, type TlsFront } from "../../support/tls-front.ts";

const channel = "paced";
const name = "paced-reads";

describe("a connection that is read in gulps", () => {
  let stores: TestStores;
  let front: TlsFront;
  const trusted = getCACertificates("default");
  before(async () => {
    stores = await testStores();
    front = await startTlsFront({ path: stores.redisUrl.slice("unix://".length) });
    setDefaultCACertificates([...trusted, mailCertificate]);
  });
  after(async () => {
    setDefaultCACertificates(trusted);
    await front.stop();
    await stores.stop();
  });

  const addresses = {
    "a socket": () => stores.redisUrl,
    TLS: () => `rediss://127.0.0.1:${front.port}`,
  };
  for (const [kind, address] of Object.entries(addresses))
    it(`hands over every message whole and in order over ${kind}, several at a time`, async () => {
      const told = new EventEmitter();
      const heard: string[] = [];
      let reads = 0;
      const channels = createChannels({
        url: address(),
        log: silentLogger,
        name,
        hear: (_, text) => {
          heard.push(text);
          told.emit("heard");
        },
        confirmed: () => told.emit("confirmed"),
        pauseMs: () => (reads++, heard.length > 0 ? 50 : 0),
      });
      const redis = connectRedis(stores.redisUrl, silentLogger, "test");
      const say = async (texts: string[]) => {
        const from = heard.length;
        for (const text of texts) await publish(redis, channel, text);
        while (heard.length < from + texts.length) await once(told, "heard");
        assert.deepEqual(heard.slice(from), texts);
      };
      try {
        const first = once(told, "confirmed");
        await redisReady(redis);
        channels.follow(channel);
        await first;
        await say(["first"]);
        const before = reads;
        await say(Array.from({ length: 100 }, (_, n) => `${n} é`));
        // TLS hands over what was encrypted together, however much of it was read.
        if (kind !== "TLS") assert.ok(reads - before < 50, `${reads - before} reads`);
        await say(["x".repeat(300_000), "y".repeat(70_000), "z"]);

        const again = once(told, "confirmed");
        const list = String(await redis.client("LIST"));
        const id = new RegExp(String.raw`id=(\d+) .*name=${name} `).exec(list)?.[1] ?? "";
        assert.equal(await redis.client("KILL", "ID", id), 1);
        await again;
        await say(["after a lost connection"]);
      } finally {
        channels.close();
        redis.disconnect();
      }
    });
});
