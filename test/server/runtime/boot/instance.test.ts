import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InstanceState } from "../../../../server/runtime/ipc.ts";
import { Instance } from "../../../../server/runtime/boot/instance.ts";

function setUp() {
  let now = 1_000;
  const published: string[] = [];
  const asked: string[] = [];
  const stores: Record<string, object | null> = {
    a: { postgres: 0, redis: 0 },
    b: { postgres: null, redis: 0 },
  };
  const workers = ["a", "b"].map((name) => ({
    isReady: true,
    answeredAt: now,
    ask: async () => {
      asked.push(name);
      return stores[name];
    },
  }));
  const instance = new Instance({
    workers: () => workers,
    storeLimitMs: 30_000,
    publish: ({ probes, isLeaving }: InstanceState) =>
      published.push(`${probes.ready.word}${isLeaving ? ", leaves" : ""}`),
    now: () => now,
  });
  const pass = (ms: number) => {
    now += ms;
    for (const worker of workers) worker.answeredAt = now;
  };
  return { instance, workers, stores, published, asked, pass };
}

describe("the state of an instance", () => {
  it("is published when it changes, and only then", async () => {
    const { instance, published, pass } = setUp();
    for (let i = 0; i < 4; i++) {
      await instance.check();
      pass(2_000);
    }
    instance.beginStop();
    instance.beginStop();
    assert.deepEqual(published, ["starting", "ready", "stopping, leaves"]);
  });

  it("counts a store as reached by any worker, which are asked in turn", async () => {
    const { instance, asked, pass } = setUp();
    for (let i = 0; i < 30; i++) {
      await instance.check();
      pass(2_000);
    }
    assert.deepEqual(asked.slice(0, 4), ["a", "b", "a", "b"]);
    assert.equal(instance.answers().ready.word, "ready");
  });

  it("is not ready once no worker has reached a store for the limit", async () => {
    const { instance, stores, published, pass } = setUp();
    await instance.check();
    stores["a"] = null;
    for (let i = 0; i < 15; i++) {
      pass(2_000);
      await instance.check();
    }
    assert.deepEqual(published, ["starting", "ready", "no-postgres"]);
    stores["b"] = { postgres: 0, redis: 0 };
    await instance.check();
    await instance.check();
    assert.equal(published.at(-1), "ready");
  });

  it("trusts the worker that has reached a store last", async () => {
    const { instance, stores, pass } = setUp();
    stores["b"] = { postgres: 25_000, redis: 25_000 };
    await instance.check();
    await instance.check();
    pass(20_000);
    assert.equal(instance.answers().ready.word, "ready");
    pass(10_000);
    assert.equal(instance.answers().ready.word, "no-postgres");
  });

  it("has the time of the last answer of a store that is away", async () => {
    const { instance, stores, pass } = setUp();
    await instance.check();
    assert.deepEqual(instance.state().awaySince, { postgres: null, redis: null });
    stores["a"] = stores["b"] = { postgres: 5_000, redis: 0 };
    pass(5_000);
    await instance.check();
    const { awaySince } = instance.state();
    assert.deepEqual(awaySince, {
      postgres: Math.round(performance.timeOrigin + 1_000),
      redis: null,
    });
    stores["a"] = stores["b"] = { postgres: 6_990, redis: 0 };
    pass(2_000);
    await instance.check();
    assert.deepEqual(instance.state().awaySince, awaySince);
    stores["a"] = stores["b"] = { postgres: 0, redis: 0 };
    await instance.check();
    assert.deepEqual(instance.state().awaySince, { postgres: null, redis: null });
  });

  it("asks no worker while none is ready", async () => {
    const { instance, workers, asked } = setUp();
    for (const worker of workers) worker.isReady = false;
    await instance.check();
    assert.deepEqual(asked, []);
  });

  it("is answered as of the moment, when no worker has answered since it was published", async () => {
    const { instance, workers, pass } = setUp();
    await instance.check();
    pass(5_000);
    for (const worker of workers) worker.answeredAt -= 5_000;
    assert.equal(instance.answers().ready.word, "no-worker");
  });
});
