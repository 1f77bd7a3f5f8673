import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { Signal } from "../../actors/signal.ts";
import { Remote } from "../../actors/wire/remote.ts";
import { forms, previousRelease } from "../../server/platform/forms.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { checkReleaseOrder, finishUpgrade } from "../../server/runtime/boot/release-order.ts";
import { startJobs, type Jobs } from "../../workers/jobs.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { by, newMember, startedLobby } from "../actors/rooms/fleet.ts";
import { eventually } from "../support/eventually.ts";
import { lastRelease } from "../support/releases.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { lobbyKey } from "../support/lobby-keys.ts";

const hourMs = 3_600_000;
const unknownForm = 99;

describe("what a newer release has written", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  it("has at most two readable forms, this release's and that of the last one", () => {
    assert.equal(previousRelease, lastRelease().version);
    for (const [kind, readable] of Object.entries<readonly number[]>(forms)) {
      const [first] = readable;
      assert.ok(readable.length <= 2, kind);
      assert.deepEqual(readable, [first, Number(first) + 1].slice(0, readable.length), kind);
    }
  });

  it("is refused as a room, which stays as it is", async () => {
    const code = "NEWERA";
    const writer = await newMember(stores.redisUrl);
    await startedLobby(writer.lobbies, code, { seats: [1, 2] });
    await writer.lobbies.stop();
    await redis.hset(lobbyKey(code), "f", unknownForm);
    const before = await redis.hgetall(lobbyKey(code));
    const reader = await newMember(stores.redisUrl);
    const reply = await reader.lobbies.ask(code, { type: "read", ...by(1) });
    assert.equal(reply.ok ? "" : reply.code, "server:unavailable");
    assert.deepEqual(await redis.hgetall(lobbyKey(code)), before);
    await redis.hset(lobbyKey(code), "f", 1);
    assert.equal((await reader.lobbies.ask(code, { type: "read", ...by(1) })).ok, true);
    await reader.lobbies.stop();
  });

  it("is refused as a message between processes, as if the room had moved", async () => {
    const sent: string[] = [];
    const delivered: unknown[] = [];
    const remote = new Remote({
      nodeId: "here",
      redis: redis as never,
      keys: { workerChannel: (id: string) => id } as never,
      metrics: { forward: () => ({ inc: () => {} }) } as never,
      timing: { soon: (work: () => void) => queueMicrotask(work), after: () => () => {} } as never,
      links: {
        ...{ received: new Signal<[string]>(), lost: new Signal<[string]>() },
        send: (_target, text) => sent.push(text) > 0,
        drop: () => undefined,
      },
      membership: { nodeDown: new Signal() },
      rooms: {
        deliver: async (...given) => {
          delivered.push(given);
          return { ok: true, body: {} } as never;
        },
      },
    });
    remote.receive(
      JSON.stringify([[0, 1, "there", "ABCDEF", { type: "read" }, "id", null, unknownForm]]),
    );
    await eventually("it is answered", () => sent.length === 1);
    assert.deepEqual([JSON.parse(sent[0] ?? ""), delivered], [[[1, 1, null]], []]);
    remote.receive(JSON.stringify([[0, 2, "there", "ABCDEF", { type: "read" }, "id"]]));
    await eventually("the other one is answered", () => sent.length === 2);
    assert.equal(delivered.length, 1);
  });

  describe("as a job", () => {
    let queues: Queues;
    let jobs: Jobs;
    const processed: unknown[] = [];
    const queue = (): Queue => queues.all().find(({ name }) => name === "mail") ?? assert.fail();
    before(async () => {
      queues = createQueues(stores.redisUrl, silentLogger);
      jobs = await startJobs({
        ...{ redisUrl: stores.redisUrl, log: silentLogger, metrics: createMetrics() },
        processors: { mail: async (payload: unknown) => void processed.push(payload) },
        newerJobPauseMs: 10,
        depsOf: () => null,
      });
    });
    after(async () => {
      await jobs.close();
      await queues.close();
    });
    const add = (form: number, addedAt: number) =>
      queue().add("mail", { messageId: 1, round: 0, form }, { timestamp: addedAt });

    it("waits for a release that reads it, without an attempt", async () => {
      const { id = "" } = await add(unknownForm, Date.now() - hourMs + 60_000);
      const job = async () => (await queue().getJob(id)) ?? assert.fail();
      await eventually("it was taken twice", async () => (await job()).attemptsStarted >= 2);
      assert.deepEqual([(await job()).attemptsMade, processed], [0, []]);
      const data = { messageId: 1, round: 0, form: 1 };
      await (await job()).updateData(data);
      await eventually("it is completed", async () => (await job()).isCompleted());
      assert.deepEqual(processed, [data]);
    });

    it("fails after an hour, where operators see it", async () => {
      const { id = "" } = await add(unknownForm, Date.now() - hourMs);
      const job = async () => (await queue().getJob(id)) ?? assert.fail();
      await eventually("it has failed", async () => (await job()).isFailed());
      assert.match((await job()).failedReason, /^the job has form 99 of a newer release/);
    });
  });
});

describe("a start on the stores of another release", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  const [first, second, third] = [
    { own: "0.2.0", previous: "0.1.0" },
    { own: "0.3.0", previous: "0.2.0" },
    { own: "0.4.0", previous: "0.3.0" },
  ];
  const refusal = (own: string, previous: string, finished: string) => ({
    name: "StartError",
    message: `release ${own} follows ${previous}, and the stores are of ${finished}: start ${previous} and run \`npm run console -- fleet:finish-upgrade\` with it`,
  });

  it("is refused two releases ahead, until the upgrade to the one between is finished", async () => {
    await redis.flushall();
    // A job worker of the first release has run, which left no mark.
    await redis.hset("jobs:maintenance:meta", "version", "bullmq");
    await checkReleaseOrder(redis, first);
    await assert.rejects(checkReleaseOrder(redis, second), refusal("0.3.0", "0.2.0", "0.1.0"));
    assert.equal(await finishUpgrade(redis, first), "0.1.0");
    await checkReleaseOrder(redis, first);
    await checkReleaseOrder(redis, second);
    await assert.rejects(checkReleaseOrder(redis, third), refusal("0.4.0", "0.3.0", "0.2.0"));
  });

  it("is refused to the release before, once the upgrade is finished", async () => {
    await redis.flushall();
    await checkReleaseOrder(redis, second);
    const refused = {
      name: "StartError",
      message:
        "release 0.2.0 is older than 0.3.0, of which the stores are since its upgrade was finished: start 0.3.0 or the release after it",
    };
    await assert.rejects(checkReleaseOrder(redis, first), refused);
    // Nor may its console give the stores back to it.
    await assert.rejects(finishUpgrade(redis, first), refused);
    await checkReleaseOrder(redis, second);
  });

  it("is free on an empty Redis, and repeatable", async () => {
    await redis.flushall();
    for (let again = 0; again < 2; again += 1) await checkReleaseOrder(redis, third);
    assert.equal(await finishUpgrade(redis, third), "0.4.0");
  });
});
