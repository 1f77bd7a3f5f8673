import assert from "node:assert/strict";
import { Agent } from "node:http";
import { test } from "node:test";
import { startService } from "../support/process.ts";
import { askRepeatedly } from "../support/repeated-requests.ts";
import { testStores } from "../support/stores.ts";
import { findProgram, proxyKinds, startHaproxyOfTwo } from "../support/web-proxies.ts";

const haproxy = proxyKinds.find(({ name }) => name === "HAProxy");
const isMissing = haproxy === undefined || findProgram(haproxy) === null;

test(
  "no request fails while an instance behind HAProxy stops, as the README sets it up",
  { skip: isMissing && process.env["CI"] !== "true" && "HAProxy is not on this machine" },
  async (t) => {
    const stores = await testStores();
    t.after(() => stores.stop());
    const start = () =>
      startService({
        env: {
          DATABASE_URL: stores.databaseUrl,
          REDIS_URL: stores.redisUrl,
          JOB_WORKERS: "0",
          RATE_LIMIT_FACTOR: "0",
          SHUTDOWN_DELAY_SECONDS: "10",
          SHUTDOWN_TIMEOUT_SECONDS: "40",
        },
      });
    const services = await Promise.all([start(), start()]);
    t.after(() => Promise.all(services.map((service) => service.stop())));
    const [one, two] = services;
    const portOf = ({ url }: { url: string }) => Number(new URL(url).port);
    const proxy = await startHaproxyOfTwo([portOf(one), portOf(two)]);
    t.after(() => proxy.stop());
    const address = `${proxy.url}/v1/health-check`;
    const clients = [
      askRepeatedly(address),
      askRepeatedly(address, new Agent({ keepAlive: true, maxSockets: 1 })),
    ];
    assert.equal(await one.stop(), 0);
    const answers = await Promise.all(clients.map((client) => client.end()));
    for (const answer of answers) assert.deepEqual([...answer.keys()], ["200"]);
  },
);
