import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parseAtomFeed } from "feedsmith";
import { startApp, type App } from "../../../support/app.ts";
import { type EnvelopeInput, entity, load as loadInto } from "../../../support/archive.ts";

const base = "https://play.example";
const home = `${base}/codex/dungeon`;
const hostile = `]]><script>alert(1)</script> & "x" \u0001\ufffe`;
const day = (n: number) => Date.UTC(2026, 0, n);

describe("the Atom feed of a changelog", () => {
  let app: App;
  const load = (now: number, input: EnvelopeInput) => loadInto(app, input, { now });
  const get = (query = "", headers: Record<string, string> = {}) =>
    app.client.get(`/codex/dungeon/changelog.atom${query}`, { headers });
  const read = async (query = "") => {
    const { text } = await get(query);
    return { text, feed: parseAtomFeed(text) };
  };

  before(async () => {
    app = await startApp({ hasJobs: false, env: { PUBLIC_BASE_URL: `${base}/` } });
    const torch = (power: number) =>
      entity("id.item.torch", { name: "Torch", data: { power, "<b>": power } });
    const released = "2025-12-24T18:00:00Z";
    await load(day(1), { version: "1.0", released, entities: [torch(1)] });
    const many = Array.from({ length: 70 }, (_, n) => entity(`id.item.n${n}`));
    const named = entity("id.item.odd", { name: hostile });
    await load(day(2), { version: "1.1", entities: [torch(2), named, ...many] });
    const branch = { slug: "beta", parent: "main", fork_version: "1.0" };
    await load(day(3), { branch, version: "1.0.1-3", entities: [torch(9)] });
  });
  after(() => app.stop());

  it("has one entry per patch, newest first, with stable addresses", async () => {
    const { feed } = await read();
    assert.equal(feed.id, `${home}/changelog.atom`);
    assert.equal(feed.title?.value, "DUNGEON: patches");
    assert.equal(feed.updated, "2026-01-02T00:00:00.000Z");
    assert.ok(feed.authors?.[0]?.name);
    assert.deepEqual(
      feed.links?.map(({ rel, href }) => [rel, href]),
      [
        ["alternate", home],
        ["self", `${home}/changelog.atom`],
      ],
    );
    const facts = feed.entries?.map(({ id, title, updated, published, links }) => {
      assert.equal(links?.[0]?.href, id);
      return [id, title?.value, updated, published];
    });
    assert.deepEqual(facts, [
      [`${home}/patches/1.1.0%2Bbuild.0`, "DUNGEON 1.1", "2026-01-02T00:00:00.000Z", undefined],
      [
        `${home}/patches/1.0.0%2Bbuild.0`,
        "DUNGEON 1.0",
        "2026-01-01T00:00:00.000Z",
        "2025-12-24T18:00:00.000Z",
      ],
    ]);
  });

  it("lists a bounded number of changes, and escapes hostile names as text", async () => {
    const { text, feed } = await read();
    const content = feed.entries?.[0]?.content?.value ?? "";
    assert.match(content, /71 added, 1 changed, 0 removed/);
    assert.match(content, /And 12 more/);
    const [first = ""] = feed.entries?.slice(-1).map((entry) => entry.content?.value) ?? [];
    assert.match(
      first,
      /New: <a href="https:\/\/play\.example\/codex\/dungeon\/id\.item\.torch">Torch<\/a>/,
    );
    assert.doesNotMatch(text, /<script|\u0001|\ufffe/);
    assert.doesNotMatch(content, /<script/);
  });

  it("of a branch includes the patches shared with its parent", async () => {
    const { feed } = await read("?branch=beta");
    assert.equal(feed.title?.value, "DUNGEON (beta): patches");
    assert.deepEqual(
      feed.entries?.map(({ id }) => id),
      [
        `${home}/patches/1.0.1%2Bbuild.0.3?branch=beta`,
        `${home}/patches/1.0.0%2Bbuild.0?branch=beta`,
      ],
    );
    const [change] = feed.entries?.map(({ content }) => content?.value) ?? [];
    assert.match(change ?? "", /data\.power: 1 → 9/);
    assert.match(change ?? "", /data\[&quot;&lt;b&gt;&quot;\]: 1 → 9/);
  });

  it("returns 304 for a known ETag, and a new body after an import", async () => {
    const { headers } = await get();
    assert.equal(headers.get("content-type"), "application/atom+xml; charset=utf-8");
    assert.equal(headers.get("cache-control"), "public, max-age=300");
    const etag = headers.get("etag") ?? "";
    const again = await get("", { "if-none-match": etag });
    assert.deepEqual([again.status, again.text], [304, ""]);
    await load(day(4), { version: "1.2", entities: [] });
    const later = await get("", { "if-none-match": etag });
    assert.equal(later.status, 200);
    assert.equal(parseAtomFeed(later.text).entries?.length, 3);
  });

  it("and patch notes stay UTF-8 where a long value is cut", async () => {
    const tale = (text: string) => entity("id.tale.one", { name: "Tale", data: { text } });
    // The quote makes the pairs begin at odd places, one more character at even ones.
    for (const [n, start] of ["", "x"].entries()) {
      const game = `tales-${n}`;
      await load(day(1), { game, version: "1.0", entities: [tale("short")] });
      await load(day(2), { game, version: "1.1", entities: [tale(start + "😀".repeat(300))] });
      for (const path of [
        `/codex/${game}/changelog.atom`,
        `/v1/codex/${game}/changelog?from=1.0&to=1.1&format=md`,
      ]) {
        const answer = await fetch(app.url + path);
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await answer.arrayBuffer());
        assert.match(text, /😀…/, path);
        assert.doesNotMatch(text, /\ufffd/);
      }
    }
  });

  it("exists for known games and branches only, and is linked in the head of pages", async () => {
    assert.equal((await app.client.get("/codex/nowhere/changelog.atom")).status, 404);
    assert.equal((await get("?branch=nowhere")).status, 404);
    const page = await app.client.get("/codex/dungeon/item?branch=beta");
    assert.match(
      page.text,
      /<link rel="alternate" type="application\/atom\+xml" href="\/codex\/dungeon\/changelog\.atom\?branch=beta"/,
    );
    for (const path of ["nowhere", "%ff", "%00", "dungeon?branch=%ff"]) {
      const lost = await app.client.get(`/codex/${path}`);
      const isPage = lost.text.startsWith("<!doctype html>");
      assert.deepEqual([lost.status, isPage], [404, true], path);
      assert.doesNotMatch(lost.text, /application\/atom/);
    }
  });
});
