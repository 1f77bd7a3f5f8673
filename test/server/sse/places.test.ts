import assert from "node:assert/strict";
import { after, afterEach, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { AppError } from "../../../server/platform/errors.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { hubLimits, type HubLimits } from "../../../server/sse/delivery/limits.ts";
import { Places, type Place } from "../../../server/sse/delivery/places.ts";
import { startProxy } from "../../support/proxy.ts";
import { startTestRedis, type TestRedis } from "./hub-server.ts";

let redis: TestRedis;
let store: Redis;
const open = new Set<Places>();
const maxPerAddress = 6;

/** Longer than this machine may stand still: what a lease or a slow Redis does, a test brings about itself. */
const leaseMs = 60_000;
const patient = { maxStreamsPerSeat: 3, beatMs: 100, leaseMs, placeWaitMs: leaseMs };

/** Resolves once the process is known to the others. */
async function join(limits: Partial<HubLimits> = {}, url = redis.url): Promise<Places> {
  const known = await store.zcard("{hub}:workers");
  const all = { ...hubLimits, ...patient, ...limits };
  const places = new Places(url, silentLogger, all, maxPerAddress);
  open.add(places);
  while ((await store.zcard("{hub}:workers")) === known) await delay(5);
  return places;
}

/** Joins first, and gives no sign of life by itself; `expire` makes its last one older than any lease. */
async function joinSilent(): Promise<{ silent: Places; expire: () => Promise<unknown> }> {
  const silent = await join({ beatMs: 1e9 });
  const [name] = await store.zrange("{hub}:workers", "0", "0");
  assert.ok(name);
  return { silent, expire: () => store.zadd("{hub}:workers", 0, name) };
}

const seat = (id: number, ip = `192.0.2.${id}`): Place => ({ seatIds: [id], ip });

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

describe("places of streams", () => {
  before(async () => {
    redis = await startTestRedis();
    store = new Redis({ path: redis.url.slice("unix://".length), retryStrategy: () => 50 });
    store.on("error", () => undefined);
  });
  afterEach(async () => {
    for (const places of open) places.stop();
    open.clear();
    await store.flushall();
  });
  after(async () => {
    store.disconnect();
    await redis.stop();
  });

  test("streams of a seat and of an address are counted over all processes, exactly", async () => {
    const all: Places[] = [];
    for (let n = 0; n < 4; n++) all.push(await join());
    const attempts = (place: Place) =>
      Promise.all([...all, ...all, ...all].map((places) => isRefused(places.take(place))));
    const refused = (await attempts(seat(1))).filter(Boolean).length;
    assert.equal(refused, 9, "three of a seat");
    const ofAddress = await attempts({ seatIds: [], ip: "203.0.113.1" });
    assert.equal(ofAddress.filter(Boolean).length, 6, "six of an address");
  });

  test("a place that was given back is free in every process", async () => {
    const [one, two] = [await join(), await join()];
    for (let n = 0; n < 3; n++) await one.take(seat(2));
    assert.ok(await isRefused(two.take(seat(2))));
    one.give(seat(2));
    await until(async () => !(await isRefused(two.take(seat(2)))));
    assert.ok(await isRefused(one.take(seat(2))));
    assert.ok(await isRefused(two.take(seat(2))));
  });

  test("a stream for several seats needs a place of each, or takes none", async () => {
    const [one, two] = [await join(), await join()];
    for (let n = 0; n < 3; n++) await one.take(seat(3));
    assert.ok(await isRefused(two.take({ seatIds: [4, 3], ip: "192.0.2.99" })));
    for (let n = 0; n < 3; n++) await two.take(seat(4));
    assert.ok(await isRefused(one.take(seat(4))));
  });

  test("what a killed process held is free after its lease, and a live one keeps what it holds", async () => {
    const { silent: killed, expire } = await joinSilent();
    await killed.take(seat(5));
    const [live, other] = [await join(), await join()];
    await live.take(seat(5));
    await live.take(seat(5));
    assert.ok(await isRefused(other.take(seat(5))));
    await expire();
    await other.take(seat(5));
    assert.ok(await isRefused(other.take(seat(5))), "two of the live process are still counted");
  });

  test("a process that was taken for dead comes back with what it holds", async () => {
    const { silent: frozen, expire } = await joinSilent();
    for (let n = 0; n < 3; n++) await frozen.take(seat(6));
    const other = await join();
    await expire();
    await other.take(seat(6));
    other.give(seat(6));
    // Its next word is enough.
    await frozen.take(seat(7));
    assert.ok(await isRefused(other.take(seat(6))));
  });

  test("while Redis is away each process counts alone, and together again afterwards", async () => {
    const [one, two] = [await join({ placeWaitMs: 100 }), await join({ placeWaitMs: 100 })];
    await one.take(seat(8));
    await redis.kill();
    await one.take(seat(8));
    await one.take(seat(8));
    assert.ok(await isRefused(one.take(seat(8))));
    await two.take(seat(9));
    await redis.restart();
    await until(async () => (await store.zcard("{hub}:workers")) >= 2);
    await until(async () => {
      const free = !(await isRefused(two.take(seat(8))));
      if (free) two.give(seat(8));
      return !free;
    });
    one.give(seat(8));
    await until(async () => !(await isRefused(two.take(seat(8)))));
  });

  test("a place that is given back while a process tells anew what it holds is free everywhere", async () => {
    const proxy = await startProxy({ path: redis.url.slice("unix://".length) });
    try {
      const url = `redis://127.0.0.1:${proxy.port}`;
      const [one, other] = [await join({}, url), await join()];
      for (let n = 0; n < 3; n++) await one.take(seat(14));
      const isTelling = proxy.holdAnswers("hset");
      proxy.cut();
      await delay(10);
      // Not counted in Redis, by which the process knows that it is not.
      await one.take(seat(15));
      await isTelling;
      one.give(seat(14));
      await delay(20);
      proxy.release();
      await until(async () => !(await isRefused(other.take(seat(14)))));
      assert.ok(await isRefused(other.take(seat(14))));
    } finally {
      await proxy.stop();
    }
  });

  test("a full process says so, and counts nothing for what it refused", async () => {
    const places = await join({ maxStreams: 2 });
    await places.take(seat(10));
    await places.take(seat(10));
    const codes = await Promise.allSettled([places.take(seat(11)), places.take(seat(10))]);
    for (const result of codes)
      assert.ok(result.status === "rejected" && result.reason.code === "server:unavailable");
    places.give(seat(10));
    await places.take(seat(11));
  });

  test("nothing is left of streams that have ended", async () => {
    const places = await join();
    for (let n = 0; n < 5; n++) {
      await places.take(seat(12));
      places.give(seat(12));
    }
    await until(async () => (await store.keys("{hub}:*")).join() === "{hub}:workers");
    await places.take(seat(12));
    for (const key of await store.keys("{hub}:[as]*")) assert.ok((await store.pttl(key)) > 0, key);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}
