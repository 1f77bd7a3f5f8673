import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { fleetWaits, linkLimits, readLimitMs } from "../../../../server/runtime/fleet/limits.ts";
import { FleetLink, type FleetLinkOptions } from "../../../../server/runtime/fleet/link.ts";
import { eventually } from "../../../support/eventually.ts";
import { testStores, type TestStores } from "../../../support/stores.ts";

const longMs = 30_000;
const answered = (value: unknown) => ({ end: "answered", value });
const never = () => new Promise<never>(() => {});

describe("a question to another instance", () => {
  let stores: TestStores;
  let redis: Redis;
  const links: FleetLink[] = [];
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    for (const link of links) link.stop();
    redis.disconnect();
    await stores.stop();
  });

  async function linkOf(id: string, given: Partial<FleetLinkOptions> = {}): Promise<FleetLink> {
    const link = new FleetLink({
      ...{ redis, redisUrl: stores.redisUrl, id, log: silentLogger, redisNow: () => 0 },
      answer: async (question, about) => ({ question, about }),
      ...given,
    });
    links.push(link);
    await link.start();
    return link;
  }

  it("is answered", async () => {
    const asker = await linkOf("a1");
    await linkOf("b1");
    const reply = await asker.ask("b1", "rooms", { kind: "lobby" }, longMs);
    assert.deepEqual(reply, answered({ question: "rooms", about: { kind: "lobby" } }));
  });

  it("is certainly not sent where nobody listens", async () => {
    const asker = await linkOf("a2");
    assert.deepEqual(await asker.ask("gone", "drain", {}, longMs), { end: "unsent" });
  });

  it("ends with its wait if nobody answers", async () => {
    const asker = await linkOf("a3");
    await linkOf("b3", { answer: never });
    assert.deepEqual(await asker.ask("b3", "drain", {}, 50), { end: "late" });
  });

  it("is not carried out if it arrives later than its asker may wait", async () => {
    const orders: unknown[] = [];
    const answer = async (_: unknown, about: unknown) => void orders.push(about);
    let now = 0;
    await linkOf("b4", { answer, redisNow: () => now });
    const asker = await linkOf("a4");
    now = linkLimits.validMs + 1;
    assert.deepEqual(await asker.ask("b4", "drain", "late", 50), { end: "late" });
    now = linkLimits.validMs;
    assert.deepEqual(await asker.ask("b4", "drain", "in time", longMs), answered(null));
    assert.deepEqual(orders, ["in time"]);
  });

  it("is not sent while as many wait for answers as the limit allows", async () => {
    const asker = await linkOf("a5", { limits: { maxPending: 2 } });
    await linkOf("b5", { answer: never });
    const waiting = [1, 2].map(() => asker.ask("b5", "rooms", null, 200));
    assert.deepEqual(await asker.ask("b5", "rooms", null, 200), { end: "unsent" });
    assert.deepEqual(await Promise.all(waiting), [{ end: "late" }, { end: "late" }]);
    assert.deepEqual(await asker.ask("b5", "rooms", null, 50), { end: "late" }, "room again");
  });

  it("is not answered while the other answers as many as the limit allows", async () => {
    const asker = await linkOf("a6");
    const open: (() => void)[] = [];
    const answer = () => new Promise((resolve) => open.push(() => resolve("done")));
    await linkOf("b6", { answer, limits: { maxAnswering: 2 } });
    const waiting = [1, 2].map(() => asker.ask("b6", "rooms", null, longMs));
    await eventually("both are being answered", () => open.length === 2);
    assert.deepEqual(await asker.ask("b6", "rooms", null, 50), { end: "late" });
    for (const finish of open) finish();
    assert.deepEqual(await Promise.all(waiting), [answered("done"), answered("done")]);
  });

  it("is not sent, nor its answer, beyond the limit of bytes", async () => {
    const limits = { maxBytes: 1_000 };
    const asker = await linkOf("a7", { limits });
    const other = await linkOf("b7", { answer: async () => "x".repeat(2_000), limits });
    const large = await asker.ask("b7", "seats", "x".repeat(2_000), longMs);
    assert.deepEqual(large, { end: "unsent" });
    assert.deepEqual(await asker.ask("b7", "rooms", null, longMs), answered(null));
    assert.deepEqual(
      await other.ask("a7", "rooms", "x".repeat(100), longMs),
      answered({ question: "rooms", about: "x".repeat(100) }),
    );
  });

  it("is ignored in a form or of a name that this release does not know, as is no message", async () => {
    const asked: string[] = [];
    await linkOf("b8", { answer: async (question) => asked.push(question) });
    const message = { type: "ask", id: "1", from: "a8", sentAt: 0, question: "rooms", about: 1 };
    for (const text of [
      ...["", "{", "null", "7", `{"type":"answer","id":"x"}`],
      JSON.stringify({ ...message, form: 99 }),
      JSON.stringify({ ...message, question: "reboot" }),
      JSON.stringify({ ...message, question: "metrics" }),
      JSON.stringify({ ...message, question: "figures" }),
    ])
      await redis.publish("fleet:b8", text);
    await eventually("the last one is answered", () => asked.length > 0);
    assert.deepEqual(asked, ["figures"]);
  });

  it("is answered again after the connections of both broke", async () => {
    const asker = await linkOf("a9");
    await linkOf("b9");
    await stores.redis.kill();
    await stores.redis.restart();
    await redisReady(redis);
    await eventually("it is answered", async () => {
      const { end } = await asker.ask("b9", "rooms", null, 500);
      return end === "answered";
    });
  });
});

describe("the waits of a drain", () => {
  it("are longer for whoever asks than for whoever answers, delay of the order included", () => {
    const ofTarget = linkLimits.validMs + readLimitMs + fleetWaits.successor;
    assert.ok(fleetWaits.drain > ofTarget);
  });
});
