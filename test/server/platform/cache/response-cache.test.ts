import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResponseCache } from "../../../../server/platform/cache/response-cache.ts";

describe("cached responses", () => {
  const present = ({ json }: { json: string }) => json;

  it("are computed once for concurrent callers, and served from the cache afterwards", async () => {
    const cache = createResponseCache();
    let made = 0;
    const make = async () => {
      made += 1;
      await new Promise(setImmediate);
      return `body ${made}`;
    };
    const all = await Promise.all(
      [1, 2, 3].map(async () => cache.fetch("k", 60_000, make, present)),
    );
    assert.deepEqual(all, ["body 1", "body 1", "body 1"]);
    assert.equal(cache.fetch("k", 60_000, make, present), "body 1");
    assert.equal(await cache.fetch("other", 60_000, make, present), "body 2");
  });

  it("are computed again when they expire, with another ETag when they changed", async () => {
    let now = 1;
    const cache = createResponseCache({ now: () => (now += 1_001) });
    const tag = (text: string) =>
      cache.fetch(
        "k",
        1_000,
        async () => text,
        ({ etag }: { etag: string }) => etag,
      );
    const [first, same, changed] = [await tag("a"), await tag("a"), await tag("b")];
    assert.equal(first, same);
    assert.notEqual(first, changed);
    assert.match(first, /^"[\w-]+"$/);
  });

  it("are not cached when computing them failed", async () => {
    const cache = createResponseCache();
    const failing = async () => Promise.reject(new Error("away"));
    await assert.rejects(async () => cache.fetch("k", 60_000, failing, present), /away/);
    assert.equal(await cache.fetch("k", 60_000, async () => "back", present), "back");
  });

  it("are evicted, the oldest first, beyond the limit", async () => {
    const cache = createResponseCache();
    let made = 0;
    const make = async () => `body ${++made}`;
    for (let i = 0; i < 600; i++) await cache.fetch(`k${i}`, 60_000, make, present);
    assert.equal(cache.fetch("k599", 60_000, make, present), "body 600");
    assert.equal(await cache.fetch("k0", 60_000, make, present), "body 601");
  });
});
