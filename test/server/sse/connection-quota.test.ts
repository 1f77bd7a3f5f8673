import assert from "node:assert/strict";
import { after, afterEach, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { AppError } from "../../../server/platform/errors.ts";
import type { Occurrence } from "../../../server/platform/faults/batch.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { hubLimits, type HubLimits } from "../../../server/sse/delivery/limits.ts";
import {
  ConnectionQuota,
  type QuotaHolder,
} from "../../../server/sse/delivery/connection-quota.ts";
import { listFaults } from "../../support/faults.ts";
import { startProxy } from "../../support/proxy.ts";
import { startTestRedis, type TestRedis } from "./hub-server.ts";

let redis: TestRedis;
let store: Redis;
const open = new Set<ConnectionQuota>();
const maxPerAddress = 6;
const recorded: Occurrence[] = [];

/** Longer than this machine may stall: the test itself triggers what a lease or a slow Redis would cause. */
const leaseMs = 60_000;
const longLimits = { maxStreamsPerSeat: 3, leaseRenewalMs: 100, leaseMs, quotaTimeoutMs: leaseMs };

/** Resolves once the other processes know this one. */
async function join(limits: Partial<HubLimits> = {}, url = redis.url): Promise<ConnectionQuota> {
  const known = await store.zcard("{hub}:workers");
  const all = { ...hubLimits, ...longLimits, ...limits };
  const quota = new ConnectionQuota({
    ...{ redisUrl: url, log: silentLogger, limits: all, maxPerAddress },
    faults: listFaults(recorded),
  });
  open.add(quota);
  while ((await store.zcard("{hub}:workers")) === known) await delay(5);
  return quota;
}

/** Joins first and sends no heartbeats; `expire` makes its last one older than any lease. */
async function joinSilent(): Promise<{ silent: ConnectionQuota; expire: () => Promise<unknown> }> {
  const silent = await join({ leaseRenewalMs: 1e9 });
  const [name] = await store.zrange("{hub}:workers", "0", "0");
  assert.ok(name);
  return { silent, expire: () => store.zadd("{hub}:workers", 0, name) };
}

const seat = (id: number, ip = `192.0.2.${id}`): QuotaHolder => ({ seats: [String(id)], ip });

async function isRefused(taking: Promise<void>): Promise<boolean> {
  try {
    await taking;
    return false;
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, "rate_limit:exceeded");
    assert.deepEqual(error.detail.params, { retry_after: 10 });
    return true;
  }
}

describe("the connection quota", () => {
  before(async () => {
    redis = await startTestRedis();
    store = new Redis({ path: redis.url.slice("unix://".length), retryStrategy: () => 50 });
    store.on("error", () => undefined);
  });
  afterEach(async () => {
    for (const quota of open) quota.stop();
    open.clear();
    await store.flushall();
  });
  after(async () => {
    store.disconnect();
    await redis.stop();
  });

  test("streams of a seat and of an address are counted exactly across all processes", async () => {
    const all: ConnectionQuota[] = [];
    for (let n = 0; n < 4; n++) all.push(await join());
    const attempts = (holder: QuotaHolder) =>
      Promise.all([...all, ...all, ...all].map((quota) => isRefused(quota.acquire(holder))));
    const refused = (await attempts(seat(1))).filter(Boolean).length;
    assert.equal(refused, 9, "three of a seat");
    const ofAddress = await attempts({ seats: [], ip: "203.0.113.1" });
    assert.equal(ofAddress.filter(Boolean).length, 6, "six of an address");
  });

  test("a released slot is free in every process", async () => {
    const [one, two] = [await join(), await join()];
    for (let n = 0; n < 3; n++) await one.acquire(seat(2));
    assert.ok(await isRefused(two.acquire(seat(2))));
    one.release(seat(2));
    await until(async () => !(await isRefused(two.acquire(seat(2)))));
    assert.ok(await isRefused(one.acquire(seat(2))));
    assert.ok(await isRefused(two.acquire(seat(2))));
  });

  test("a stream for several seats acquires a slot of each, or none", async () => {
    const [one, two] = [await join(), await join()];
    for (let n = 0; n < 3; n++) await one.acquire(seat(3));
    assert.ok(await isRefused(two.acquire({ seats: ["4", "3"], ip: "192.0.2.99" })));
    for (let n = 0; n < 3; n++) await two.acquire(seat(4));
    assert.ok(await isRefused(one.acquire(seat(4))));
  });

  test("the slots of a killed process expire with its lease, and those of a live process stay", async () => {
    const { silent: killed, expire } = await joinSilent();
    await killed.acquire(seat(5));
    const [live, other] = [await join(), await join()];
    await live.acquire(seat(5));
    await live.acquire(seat(5));
    assert.ok(await isRefused(other.acquire(seat(5))));
    await expire();
    await other.acquire(seat(5));
    assert.ok(await isRefused(other.acquire(seat(5))), "two of the live process are still counted");
  });

  test("a process whose lease expired registers again with the slots it holds", async () => {
    const { silent: frozen, expire } = await joinSilent();
    for (let n = 0; n < 3; n++) await frozen.acquire(seat(6));
    const other = await join();
    await expire();
    await other.acquire(seat(6));
    other.release(seat(6));
    // Its next heartbeat is enough.
    await frozen.acquire(seat(7));
    assert.ok(await isRefused(other.acquire(seat(6))));
  });

  test("while Redis is unavailable each process counts alone, and all count together afterwards", async () => {
    const [one, two] = [await join({ quotaTimeoutMs: 100 }), await join({ quotaTimeoutMs: 100 })];
    await one.acquire(seat(8));
    recorded.length = 0;
    await redis.kill();
    await one.acquire(seat(8));
    assert.ok(recorded.some(({ kind, place }) => kind === "degraded" && place === "stream-quota"));
    await one.acquire(seat(8));
    assert.ok(await isRefused(one.acquire(seat(8))));
    await two.acquire(seat(9));
    await redis.restart();
    await until(async () => (await store.zcard("{hub}:workers")) >= 2);
    await until(async () => {
      const free = !(await isRefused(two.acquire(seat(8))));
      if (free) two.release(seat(8));
      return !free;
    });
    one.release(seat(8));
    await until(async () => !(await isRefused(two.acquire(seat(8)))));
  });

  test("a slot released while a process registers again is free everywhere", async () => {
    const proxy = await startProxy({ path: redis.url.slice("unix://".length) });
    try {
      const url = `redis://127.0.0.1:${proxy.port}`;
      const [one, other] = [await join({}, url), await join()];
      for (let n = 0; n < 3; n++) await one.acquire(seat(14));
      const heldRenewal = proxy.holdAnswers("hset");
      proxy.cut();
      await delay(10);
      // Not counted in Redis, which shows the process that its registration was removed.
      await one.acquire(seat(15));
      await heldRenewal;
      one.release(seat(14));
      await delay(20);
      proxy.release();
      await until(async () => !(await isRefused(other.acquire(seat(14)))));
      assert.ok(await isRefused(other.acquire(seat(14))));
    } finally {
      await proxy.stop();
    }
  });

  test("a full process reports that, and does not count refused streams", async () => {
    const quota = await join({ maxStreams: 2 });
    await quota.acquire(seat(10));
    await quota.acquire(seat(10));
    const codes = await Promise.allSettled([quota.acquire(seat(11)), quota.acquire(seat(10))]);
    for (const result of codes)
      assert.ok(result.status === "rejected" && result.reason.code === "server:unavailable");
    quota.release(seat(10));
    await quota.acquire(seat(11));
  });

  test("ended streams leave nothing behind", async () => {
    const quota = await join();
    for (let n = 0; n < 5; n++) {
      await quota.acquire(seat(12));
      quota.release(seat(12));
    }
    await until(async () => (await store.keys("{hub}:*")).join() === "{hub}:workers");
    await quota.acquire(seat(12));
    for (const key of await store.keys("{hub}:[as]*")) assert.ok((await store.pttl(key)) > 0, key);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}
