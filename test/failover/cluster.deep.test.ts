import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { asCluster, connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createChannels } from "../../server/platform/redis/create-channels.ts";
import { publish } from "../../server/platform/redis/redis.ts";
import { checkStored } from "../../bench/faults/check.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { startTestCluster, type TestCluster } from "../support/cluster.ts";
import { playGame } from "../support/game.ts";
import { newPlayer } from "../support/player.ts";
import { startService, type Service } from "../support/process.ts";

describe("a service on a Redis Cluster of three masters", () => {
  let cluster: TestCluster;
  let service: Service;

  before(async () => {
    cluster = await startTestCluster();
    service = await startService({
      sharesPostgres: true,
      env: { REDIS_URL: cluster.url, HTTP_WORKERS: "2", LOBBY_MIN_QUESTION_MS: "0" },
    });
  });
  after(async () => {
    try {
      await service.stop();
    } finally {
      await cluster.stop();
    }
  });

  it("finishes lobbies on all masters while a worker is killed, and stores the results", async () => {
    let isKilled = false;
    const injectFault = async (question: number) => {
      if (question !== 1 || isKilled) return;
      isKilled = true;
      const [victim] = await service.workerPids();
      assert.ok(victim);
      process.kill(victim, "SIGKILL");
    };
    const games = Array.from({ length: 6 }, async (_, i) => {
      const players = await Promise.all(
        [1, 2].map((seat) => newPlayer(service.url, `Cluster ${i} player ${seat}`)),
      );
      const mode = i % 2 === 0 ? "coop" : "versus";
      return playGame(players, { mode, questions: 3, injectFault });
    });
    const finals = await Promise.all(games);
    assert.ok(isKilled);
    assert.deepEqual(new Set(finals.map(({ status }) => status)), new Set(["finished"]));
    await assertStored(service, finals);
  });

  it("distributes lobbies over the masters and never uses keys of two slots together", async () => {
    const redis = connectRedis(cluster.url, silentLogger, "test");
    await redisReady(redis);
    const masters = asCluster(redis)?.nodes("master") ?? [];
    assert.equal(masters.length, 3);
    const counts = await Promise.all(
      masters.map(async (node) => (await node.keys("*:own")).length),
    );
    redis.disconnect();
    for (const count of counts) assert.ok(count > 200, `${counts.join()} owner records`);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      1024,
    );
  });

  it("repeats responses under an Idempotency-Key", async () => {
    const { accessToken } = await newPlayer(service.url, "Ann");
    const create = async (key: string) => {
      const answer = await fetch(`${service.url}/v1/games/trivia/lobbies`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${accessToken}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body: JSON.stringify({ hostName: "Ann" }),
      });
      assert.equal(answer.status, 201);
      return ((await answer.json()) as { body: { lobby: { code: string } } }).body.lobby.code;
    };
    // Keys of all masters.
    for (let n = 0; n < 6; n++) assert.equal(await create(`key-${n}`), await create(`key-${n}`));
  });

  it("counts requests in the cluster", async () => {
    const call = () =>
      fetch(`${service.url}/v1/gateway/guest`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
    const left = async () => Number((await call()).headers.get("x-ratelimit-remaining"));
    const first = await left();
    assert.equal(await left(), first - 1);
  });

  it("receives channels of every slot, even after the connection to a node was lost", async () => {
    const names = Array.from({ length: 24 }, (_, i) => `test-channel-${i}`);
    const confirmed = new Map(names.map((name) => [name, 0]));
    const received = new Set<string>();
    const channels = createChannels({
      url: cluster.url,
      log: silentLogger,
      name: "cut-me",
      onMessage: (channel, text) => void received.add(`${channel} ${text}`),
      confirmed: (all) => {
        for (const name of all) confirmed.set(name, (confirmed.get(name) ?? 0) + 1);
      },
    });
    const redis = connectRedis(cluster.url, silentLogger, "test");
    await redisReady(redis);
    const eachHas = (times: number) => () => [...confirmed.values()].every((n) => n >= times);
    for (const name of names) channels.follow(name);
    await eventually("every subscription holds", eachHas(1));
    for (const node of asCluster(redis)?.nodes("master") ?? [])
      await node.call("CLIENT", "KILL", "TYPE", "pubsub");
    await eventually("every subscription holds again", eachHas(2));
    for (const name of names) assert.equal(await publish(redis, name, "hello"), 1, name);
    await eventually("all messages arrived", () =>
      names.every((name) => received.has(`${name} hello`)),
    );
    channels.close();
    redis.disconnect();
  });

  it("keeps playing when a master dies and its replica is promoted, and loses nothing", async () => {
    const count = 6;
    const failedOver = Promise.withResolvers<void>();
    let waiting = 0;
    const injectFault = async (question: number) => {
      if (question !== 1) return;
      if (++waiting === count) cluster.failOver().then(failedOver.resolve, failedOver.reject);
      await failedOver.promise;
    };
    const games = Array.from({ length: count }, async (_, i) => {
      const players = await Promise.all(
        [1, 2].map((seat) => newPlayer(service.url, `Outlived ${i} player ${seat}`)),
      );
      return playGame(players, {
        mode: i % 2 === 0 ? "coop" : "versus",
        questions: 3,
        injectFault,
      });
    });
    const finals = await Promise.all(games);
    assert.deepEqual(new Set(finals.map(({ status }) => status)), new Set(["finished"]));
    await assertStored(service, finals);
  });
});

/** Every result is in the database, and the statistics have counted it. */
async function assertStored({ databaseUrl }: Service, finals: { code: string }[]): Promise<void> {
  const played = finals.map(({ code }) => ({ code, choices: [] }));
  assert.deepEqual(await withClient(databaseUrl, (client) => checkStored(client, played)), []);
}
