import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { withLock } from "../../../../server/platform/redis/distributed-lock.ts";
import { eventually } from "../../../support/eventually.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

// Each has a lock of its own, and they mostly wait.
describe("work under a distributed lock", { concurrency: true }, () => {
  let stores: TestStores;
  let redis: Redis;
  let other: Redis;
  before(async () => {
    stores = await testStores();
    [redis, other] = [0, 1].map((n) =>
      connectRedis(stores.redisUrl, silentLogger, `turns-${n}`),
    ) as [Redis, Redis];
    await Promise.all([redisReady(redis), redisReady(other)]);
  });
  after(async () => {
    for (const each of [redis, other]) each.disconnect();
    await stores.stop();
  });

  it("runs one at a time to completion, in whichever process it starts", async () => {
    const log: string[] = [];
    const work = (n: number) => async () => {
      log.push(`begin ${n}`);
      await wait(5);
      log.push(`end ${n}`);
      return n;
    };
    const all = Array.from({ length: 8 }, (_, n) => withLock(n % 2 ? redis : other, "a", work(n)));
    assert.deepEqual(await Promise.all(all), [0, 1, 2, 3, 4, 5, 6, 7]);
    const started = log.filter((_, at) => at % 2 === 0).map((line) => line.replace("begin ", ""));
    assert.deepEqual(
      log,
      started.flatMap((n) => [`begin ${n}`, `end ${n}`]),
    );
    assert.deepEqual(await redis.keys("turn:a"), []);
  });

  it("does not wait for a lock of another name, and releases the lock when it fails", async () => {
    const failing = async () => {
      assert.equal(await withLock(other, "other", async () => "beside"), "beside");
      throw new Error("failed");
    };
    await assert.rejects(withLock(redis, "name", failing), /failed/);
    assert.equal(await withLock(other, "name", async () => "next"), "next");
  });

  it("stays exclusive when it takes longer than a lease", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const times = { leaseMs: 9_000, timeoutMs: 60_000 };
    const log: string[] = [];
    const started = Promise.withResolvers<void>();
    const work = async () => {
      started.resolve();
      for (let renewals = 0; renewals < 3; renewals++) {
        await redis.pexpire("turn:long", times.leaseMs / 2);
        t.mock.timers.tick(times.leaseMs / 3);
        const isRenewed = async () => (await redis.pttl("turn:long")) > times.leaseMs / 2;
        await eventually("the lease is renewed", isRenewed);
      }
      log.push("long");
    };
    const long = withLock(redis, "long", work, times);
    await started.promise;
    await withLock(other, "long", async () => void log.push("next"), times);
    await long;
    assert.deepEqual(log, ["long", "next"]);
  });

  it("of a process that died is taken over when the lease expires", async () => {
    await redis.set("turn:dead", "who died", "PX", 150);
    assert.equal(await withLock(other, "dead", async () => "next"), "next");
  });

  it("that outlived its lease does not release the lock of the next holder", async () => {
    await withLock(redis, "slow", async () => {
      await redis.set("turn:slow", "the next one", "PX", 60_000);
    });
    assert.equal(await redis.get("turn:slow"), "the next one");
  });

  it("is refused when the lock is not free in time", async () => {
    await redis.set("turn:held", "somebody", "PX", 60_000);
    const times = { leaseMs: 1_000, timeoutMs: 50 };
    await assert.rejects(
      withLock(redis, "held", async () => assert.fail("not its turn"), times),
      { code: "server:unavailable" },
    );
  });
});
