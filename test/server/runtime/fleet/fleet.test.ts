import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger, type Logger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { Fleet, type FleetOptions } from "../../../../server/runtime/fleet/fleet.ts";
import { readProblems } from "../../../../server/runtime/fleet/problems.ts";
import { joinFleet, maxInstances, readFleet } from "../../../../server/runtime/fleet/registry.ts";
import { eventually } from "../../../support/eventually.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";
import { entryOf } from "./entries.ts";

const never = () => new Promise<never>(() => {});
const going = new AbortController().signal;

describe("an instance of the fleet", () => {
  let stores: TestStores;
  let redis: Redis;
  const fleets: Fleet[] = [];
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
  afterEach(() => Promise.all(fleets.splice(0).map((fleet) => fleet.leave())));

  function newFleet(id: string, given: Partial<FleetOptions> = {}, secrets = ["s1"]): Fleet {
    const fleet = new Fleet({
      ...{ redis, redisUrl: stores.redisUrl, id, log: silentLogger, foreignMs: 0 },
      about: entryOf({ host: `host of ${id}`, secrets }),
      observe: async () => {
        const { ready, workers, nodes, figures } = entryOf();
        return { ready, workers, nodes, figures };
      },
      answer: async (question) => (question === "successor" ? true : `${question} of ${id}`),
      ...given,
    });
    fleets.push(fleet);
    return fleet;
  }
  async function member(id: string, given: Partial<FleetOptions> = {}): Promise<Fleet> {
    const fleet = newFleet(id, given);
    await fleet.join(going);
    return fleet;
  }

  it("is registered until it leaves", async () => {
    const fleet = await member("a");
    assert.deepEqual(
      (await readFleet(redis)).map(({ id, host }) => [id, host]),
      [["a", "host of a"]],
    );
    await fleet.leave();
    fleet.renew();
    await fleet.leave();
    assert.deepEqual(await readFleet(redis), []);
  });

  it("reports a clock that differs from those of the others", async (t) => {
    const other = await member("b");
    other.renew();
    t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
    const ahead = await member("a");
    ahead.renew();
    await eventually("its entry has it", async () =>
      (await readProblems(redis)).some(({ kind }) => kind === "clocks"),
    );
    const [own] = (await readFleet(redis)).filter(({ id }) => id === "a");
    assert.ok(Number(own?.clockOffsetMs) > 3_000_000);
  });

  it("does not start with a secret that the live instances do not know", async () => {
    await member("a");
    await assert.rejects(newFleet("b", {}, ["other", "older"]).join(going), {
      name: "StartError",
      message:
        "APP_SECRET and APP_SECRET_PREVIOUS are unknown to the instances that run on these stores, host of a (a): set one of them to the APP_SECRET of theirs",
    });
    assert.equal((await readFleet(redis)).length, 1);
    await newFleet("c", {}, ["new", "s1"]).join(going);
  });

  it("starts with it once the lease of the last such instance has ended, as after a crash", async () => {
    await joinFleet(redis, "dead", entryOf());
    const joined = newFleet("b", { foreignMs: 60_000 }, ["other"]).join(going);
    await redis.zadd("{fleet}:leases", "XX", 1, "dead");
    await joined;
    assert.deepEqual(
      (await readFleet(redis)).map(({ id }) => id),
      ["b"],
    );
  });

  it("stops waiting for it when it is stopped", async () => {
    await member("a");
    const stop = new AbortController();
    const joined = newFleet("b", { foreignMs: 60_000 }, ["other"]).join(stop.signal);
    stop.abort();
    await assert.rejects(joined, { name: "AbortError" });
  });

  it("serves although the registry is full, which the log says", async () => {
    const others = Array.from({ length: maxInstances }, (_, i) => [Date.now() + 60_000, `i${i}`]);
    await redis.zadd("{fleet}:leases", ...others.flat());
    const events: string[] = [];
    const warn = ({ event }: { event: string }) => events.push(event);
    await member("a", { log: { ...silentLogger, warn } as Logger });
    assert.deepEqual(events, ["fleet_full"]);
    assert.equal(await redis.zscore("{fleet}:leases", "a"), null);
  });

  it("writes what begins not to fit, and what ends", async () => {
    const lines: string[] = [];
    const write = ({ event, kind }: { event: string; kind?: string }) =>
      lines.push(`${event} ${kind}`);
    const log = { ...silentLogger, warn: write, info: write } as Logger;
    const one = await member("a", { log, about: entryOf({ hasAvatarFolder: true }) });
    const two = await member("b");
    one.renew();
    await eventually("it is written", () => lines.length === 1);
    one.renew();
    await two.leave();
    one.renew();
    await eventually("its end is written", () => lines.length === 2);
    assert.deepEqual(lines, ["fleet_problem avatar-folder", "fleet_problem_ended avatar-folder"]);
  });

  it("has a successor as soon as one other is ready, whoever else is silent", async (t) => {
    const asker = await member("a");
    assert.equal(await asker.hasSuccessor(), false, "alone");
    await member("busy", { answer: async () => false });
    assert.equal(await asker.hasSuccessor(), false);
    await member("silent", { answer: never });
    await member("ready");
    // Its wait for the silent one would never end.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    assert.equal(await asker.hasSuccessor(), true);
  });

  it("asks the processes of all others; one that does not answer counts as unknown", async () => {
    const asker = await member("a");
    await Promise.all([member("b"), member("c", { answer: never })]);
    const found = await asker.askOthers("rooms", undefined);
    assert.deepEqual(found, [
      { instance: "b", host: "host of b", answer: "rooms of b" },
      { instance: "c", host: "host of c", answer: null },
    ]);
  });

  it("orders another one to drain, and says how that ended", async () => {
    const asker = await member("a");
    const orders: unknown[] = [];
    await member("b", {
      answer: async (_, about) => {
        orders.push(about);
        return orders.length === 1 ? "draining" : "a later word";
      },
    });
    assert.equal(await asker.drain("b", 3), "draining");
    assert.deepEqual(orders, [{ index: 3 }]);
    assert.equal(await asker.drain("b", 3), "unconfirmed");
    assert.equal(await asker.drain("nowhere", 0), "instance_not_found");
    await joinFleet(redis, "dead", entryOf());
    assert.equal(await asker.drain("dead", 0), "instance_unreachable");
  });
});
