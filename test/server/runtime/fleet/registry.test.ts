import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { slotOf } from "../../../../server/platform/redis/cluster-slots.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { maxEntryBytes, readEntry, storedEntry } from "../../../../server/runtime/fleet/entry.ts";
import {
  finishedKey,
  joinFleet,
  leaseMs,
  leaveFleet,
  maxInstances,
  readFleet,
  recordFinished,
  renewLease,
} from "../../../../server/runtime/fleet/registry.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";
import { entryOf } from "./entries.ts";

const leasesKey = "{fleet}:leases";
const releases = { own: "1.0.0", previous: "0.9.0" };

describe("the registry of instances", () => {
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
  beforeEach(() => redis.flushall());

  const join = async (id: string, given: Parameters<typeof entryOf>[0] = {}) =>
    (await joinFleet(redis, id, entryOf(given), releases)).outcome;
  const ids = async () => (await readFleet(redis)).map(({ id }) => id);
  /** As after a lease without a renewal. */
  const expire = (id: string) => redis.zadd(leasesKey, "XX", 1, id);

  it("has what each instance reports, by host", async () => {
    await join("two", { host: "b", ready: "starting" });
    await join("one", { host: "a", nodes: ["n1"] });
    const found = await readFleet(redis);
    assert.deepEqual(found, [
      { ...entryOf({ host: "a", nodes: ["n1"] }), id: "one" },
      { ...entryOf({ host: "b", ready: "starting" }), id: "two" },
    ]);
  });

  it("forgets an instance that leaves, or whose lease has ended", async () => {
    for (const id of ["left", "dead", "live"]) await join(id);
    await leaveFleet(redis, "left");
    await expire("dead");
    assert.deepEqual(await ids(), ["live"]);
    await renewLease(redis, "live", entryOf());
    assert.deepEqual(await redis.hkeys("{fleet}:entries"), ["live"], "nothing of it is kept");
  });

  it("has the news of the last renewal, also after Redis has lost the lease", async () => {
    await join("one");
    await redis.flushall();
    const { outcome } = await renewLease(redis, "one", entryOf({ ready: "draining" }));
    assert.equal(outcome, "joined");
    assert.equal((await readFleet(redis))[0]?.ready, "draining");
  });

  it("counts leases by the clock of Redis, also once it was set back", async () => {
    const { now } = await joinFleet(redis, "one", entryOf(), releases);
    const until = Number(await redis.zscore(leasesKey, "one"));
    assert.equal(until - now, leaseMs);
    await redis.zadd(leasesKey, until + 3_600_000, "ahead");
    await renewLease(redis, "one", entryOf());
    assert.ok(Number(await redis.zscore(leasesKey, "ahead")) <= until + 60_000);
  });

  it("leaves nothing behind, and is in one slot of a cluster", async () => {
    await join("one");
    await recordFinished(redis, releases.own);
    const keys = await redis.keys("*");
    assert.equal(new Set(keys.map(slotOf)).size, 1);
    for (const key of keys.filter((one) => one !== finishedKey))
      assert.ok((await redis.pttl(key)) > 0, key);
  });

  it("holds 256 instances; a further one is not registered, until one leaves", async () => {
    const others = Array.from({ length: maxInstances - 1 }, (_, i) => `i${i}`);
    const later = Date.now() + 10_000;
    await redis.zadd(leasesKey, ...others.flatMap((id) => [later, id]));
    assert.equal(await join("last"), "joined");
    assert.equal(await join("more"), "full");
    assert.equal((await renewLease(redis, "more", entryOf())).outcome, "full");
    assert.equal((await renewLease(redis, "last", entryOf())).outcome, "joined");
    assert.equal(await redis.zcard(leasesKey), maxInstances);
    await leaveFleet(redis, "last");
    assert.equal((await renewLease(redis, "more", entryOf())).outcome, "joined");
  });

  it("takes an instance that shares a secret with any live one, and no other", async () => {
    assert.equal(await join("first", { secrets: ["a"] }), "joined");
    assert.equal(await join("foreign", { secrets: ["x", "y"] }), "secret");
    assert.deepEqual(await ids(), ["first"]);
    assert.equal(await join("rotated", { secrets: ["b", "a"] }), "joined");
    assert.equal(await join("after", { secrets: ["c", "b"] }), "joined");
    for (const id of ["first", "rotated", "after"]) await expire(id);
    assert.equal(await join("foreign", { secrets: ["x", "y"] }), "joined");
  });

  it("takes no instance of a release that cannot run on these stores", async () => {
    await redis.set(finishedKey, "0.8.0");
    assert.equal(await join("one"), "release");
    assert.deepEqual(await ids(), []);
    for (const release of [releases.previous, releases.own]) {
      await redis.set(finishedKey, release);
      assert.equal(await join("one"), "joined");
    }
  });

  describe("of an upgrade", () => {
    it("keeps it open while an instance of another release lives", async () => {
      await redis.set(finishedKey, releases.previous);
      await join("new");
      await join("old", { version: releases.previous, host: "b" });
      const open = await recordFinished(redis, releases.own);
      assert.deepEqual("others" in open && open.others.map(({ host }) => host), ["b"]);
      assert.equal(await redis.get(finishedKey), releases.previous);
      await leaveFleet(redis, "old");
      const { previous } = releases;
      assert.deepEqual(await recordFinished(redis, releases.own), { former: previous });
      assert.equal(await redis.get(finishedKey), releases.own);
    });

    it("lets either the end or a start of the release before win, when both come at once", async () => {
      const former = { own: releases.previous, previous: "0.8.0" };
      const entry = entryOf({ version: former.own });
      for (let i = 0; i < 20; i++) {
        await redis.flushall();
        await redis.set(finishedKey, releases.previous);
        const [end, start] = await Promise.all([
          recordFinished(redis, releases.own),
          joinFleet(redis, "old", entry, former),
        ]);
        assert.notEqual("former" in end, start.outcome === "joined");
      }
    });
  });
});

describe("the entry of an instance", () => {
  const nodes = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`.padEnd(24, "x"));

  it("has room for the largest instance, and a bound", () => {
    const workers = { http: { numReady: 256, num: 256 }, jobs: { numReady: 64, num: 64 } };
    const largest = entryOf({ workers, nodes: nodes(256), host: "h".repeat(10_000) });
    assert.ok(storedEntry(largest).length < maxEntryBytes);
    assert.throws(() => storedEntry(entryOf({ nodes: nodes(1_024) })), /larger than 16384 bytes/);
  });

  it("is unknown, but there, in a form that this release cannot read", () => {
    for (const text of ["{", "{}", `{"version":7}`])
      assert.deepEqual(
        [readEntry("id", text).id, readEntry("id", text).version],
        ["id", "unknown"],
      );
    const later = JSON.stringify({ ...entryOf(), added: "by a later release" });
    assert.equal(readEntry("id", later).version, "1.0.0");
  });
});
