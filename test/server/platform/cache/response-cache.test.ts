import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createResponseCache,
  type ResponseCache,
} from "../../../../server/platform/cache/response-cache.ts";

describe("cached responses", () => {
  const read = async (cache: ResponseCache, key: string, make: () => Promise<string>) =>
    (await cache.fetch(key, 60_000, make)).json;

  it("are computed once for concurrent callers, and served from the cache afterwards", async () => {
    const cache = createResponseCache();
    let made = 0;
    const make = async () => {
      made += 1;
      await new Promise(setImmediate);
      return `body ${made}`;
    };
    const all = await Promise.all([1, 2, 3].map(async () => read(cache, "k", make)));
    assert.deepEqual(all, ["body 1", "body 1", "body 1"]);
    assert.equal(await read(cache, "k", make), "body 1");
    assert.equal(await read(cache, "other", make), "body 2");
  });

  it("are computed again when they expire, with another ETag when they changed", async () => {
    let now = 1;
    const cache = createResponseCache({ now: () => (now += 1_001) });
    const tag = async (text: string) => (await cache.fetch("k", 1_000, async () => text)).etag;
    const [first, same, changed] = [await tag("a"), await tag("a"), await tag("b")];
    assert.equal(first, same);
    assert.notEqual(first, changed);
    assert.match(first, /^"[\w-]+"$/);
  });

  it("are not cached when computing them failed", async () => {
    const cache = createResponseCache();
    const failing = async () => Promise.reject(new Error("away"));
    await assert.rejects(async () => read(cache, "k", failing), /away/);
    assert.equal(await read(cache, "k", async () => "back"), "back");
  });

  it("are returned after they expired while computing them fails", async () => {
    let now = 1;
    const cache = createResponseCache({ now: () => (now += 1_001) });
    const ask = async (make: () => Promise<string>) => (await cache.fetch("k", 1_000, make)).json;
    const failing = async () => Promise.reject(new Error("away"));
    assert.equal(await ask(async () => "before"), "before");
    assert.deepEqual([await ask(failing), await ask(failing)], ["before", "before"]);
    assert.equal(await ask(async () => "after"), "after");
  });

  it("are evicted, the oldest first, beyond the limit", async () => {
    const cache = createResponseCache();
    let made = 0;
    const make = async () => `body ${++made}`;
    for (let i = 0; i < 600; i++) await read(cache, `k${i}`, make);
    assert.equal(await read(cache, "k599", make), "body 600");
    assert.equal(await read(cache, "k0", make), "body 601");
  });
});
