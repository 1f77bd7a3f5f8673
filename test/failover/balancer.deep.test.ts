import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, describe, it } from "node:test";
import { startService, type Service } from "../support/process.ts";
import { askRepeatedly } from "../support/repeated-requests.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { findProgram, proxyKinds, startWebProxy, type WebProxy } from "../support/web-proxies.ts";

const installed = proxyKinds.filter((kind) => findProgram(kind) !== null);
const names = process.env["CI"] === "true" ? proxyKinds : installed;

/** Requests through one proxy, each on a connection of its own and on a kept one. */
const clientsOf = ({ url }: WebProxy) => [
  askRepeatedly(`${url}/v1/health-check`),
  askRepeatedly(`${url}/v1/health-check`, new Agent({ keepAlive: true, maxSockets: 1 })),
];

describe("no request fails while an instance stops", () => {
  let stores: TestStores;
  let services: [Service, Service];
  const proxies = new Map<string, WebProxy>();
  /** Statuses that the clients of each proxy have received. */
  const answers = new Map<string, string[]>();

  before(async () => {
    stores = await testStores();
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
    services = await Promise.all([start(), start()]);
    const addresses = services.map(({ url }) => new URL(url).host);
    for (const kind of installed) proxies.set(kind.name, await startWebProxy(kind, addresses));
    const clients = [...proxies].map(([name, proxy]) => ({ name, asked: clientsOf(proxy) }));
    assert.equal(await services[0].stop(), 0);
    for (const { name, asked } of clients) {
      const statuses = await Promise.all(asked.map((client) => client.end()));
      answers.set(name, [...new Set(statuses.flatMap((each) => [...each.keys()]))]);
    }
  });
  after(async () => {
    for (const proxy of proxies.values()) await proxy.stop();
    await Promise.all((services ?? []).map((service) => service.stop()));
    await stores?.stop();
  });

  for (const { name } of names)
    it(`behind ${name} with the shipped file`, () =>
      assert.deepEqual(answers.get(name) ?? `${name} is not on this machine`, ["200"]));
});
