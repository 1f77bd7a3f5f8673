import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../../../server/platform/errors.ts";
import { createConcurrencyLimiter } from "../../../../server/platform/tasks/concurrency-limiter.ts";
import { createByteLruCache } from "../../../../server/platform/cache/byte-lru-cache.ts";

describe("a byte LRU cache", () => {
  const create = () => {
    const made: string[] = [];
    const cache = createByteLruCache<string>({ maxBytes: 10_000, sizeOf: (text) => text.length });
    const use = async (key: string, size = 1_000) => {
      const text = await cache.fetch(key, async () => {
        made.push(key);
        return "x".repeat(size);
      });
      return text.length;
    };
    return { made, cache, use };
  };

  it("computes a value once for concurrent callers and serves later ones from the cache", async () => {
    const { made, use } = create();
    assert.deepEqual(await Promise.all([use("a"), use("a"), use("a")]), [1_000, 1_000, 1_000]);
    assert.equal(await use("a"), 1_000);
    assert.deepEqual(made, ["a"]);
  });

  it("stays below its size limit and evicts the least recently used value first", async () => {
    const { made, cache, use } = create();
    for (let n = 0; n < 20; n++) {
      await use(`k${n}`);
      await use("k0");
      assert.ok(cache.size() <= 10_000);
    }
    assert.equal(made.filter((key) => key === "k0").length, 1);
    assert.equal(await use("k0"), 1_000);
    await use("k1");
    assert.equal(made.filter((key) => key === "k1").length, 2);
  });

  it("returns a value too large to cache, and caches no failure", async () => {
    const { made, cache, use } = create();
    await use("big", 9_000);
    await use("big", 9_000);
    assert.deepEqual([made.length, cache.size()], [2, 0]);
    const fail = () => Promise.reject(new Error("no"));
    await assert.rejects(async () => cache.fetch("f", fail), /no/);
    assert.equal(await cache.fetch("f", async () => "yes"), "yes");
  });
});

describe("a concurrency limiter", () => {
  it("runs some calls, queues some in order and refuses the rest", async () => {
    const limiter = createConcurrencyLimiter({ running: 1, waiting: 2 });
    const order: string[] = [];
    const releases: (() => void)[] = [];
    const run = (name: string) =>
      limiter.run(async () => {
        order.push(name);
        await new Promise<void>((resolve) => releases.push(resolve));
      });
    const inside = [run("a"), run("b"), run("c")];
    await assert.rejects(
      run("d"),
      (error) => error instanceof AppError && error.code === "server:unavailable",
    );
    for (const finished of inside) {
      releases.shift()?.();
      await finished;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(order, ["a", "b", "c"]);
    const last = run("e");
    releases.shift()?.();
    await last;
    assert.equal(order.at(-1), "e");
  });
});
