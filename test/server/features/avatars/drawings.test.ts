import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enter } from "../../../support/identity.ts";
import {
  app,
  asked,
  available,
  cdnUrl,
  codeOf,
  emptySelection,
  member,
  namesOf,
  advance,
  pictures,
  startsSelectionApp,
} from "./selection-app.ts";

describe("pictures of avatars", () => {
  startsSelectionApp();

  describe("the credits", credits);
  describe("drawings", drawings);
  describe("the picture of a social login", () => {
    it("is the target of a redirect, and is checked once in ten minutes", async () => {
      const one = await member();
      pictures.set("/a.png", { status: 200, type: "image/png" });
      await one.link("acme", `${cdnUrl}/a.png`);
      assert.equal((await one.chosen({ source: "acme" })).source, "acme");
      asked.times = 0;
      for (let i = 0; i < 3; i++) {
        const answer = await one.draw();
        assert.deepEqual([answer.status, answer.headers.get("location")], [302, `${cdnUrl}/a.png`]);
      }
      const own = await app.client.get("/v1/users/@me/avatar", { token: one.token });
      assert.deepEqual([own.status, own.headers.get("location")], [302, `${cdnUrl}/a.png`]);
      assert.equal(asked.times, 1);
      assert.equal((await one.draw("?fallback=true")).status, 200);
      pictures.set("/a.png", { status: 404, type: "text/html" });
      advance(600_000);
      assert.equal((await one.draw()).status, 200);
      assert.equal(asked.times, 2);
    });

    it("is replaced by a generated one when its host, address or response is not as configured", async () => {
      pictures.set("/page", { status: 200, type: "text/html" });
      pictures.set("/moved", { status: 302, type: "image/png" });
      const addresses = [
        null,
        `${cdnUrl}/page`,
        `${cdnUrl}/moved`,
        "http://a.pictures.example/a.png",
        "https://a.pictures.example:8443/a.png",
        "https://user:secret@a.pictures.example/a.png",
        "https://pictures.example/a.png",
        "https://a.pictures.example.evil.example/a.png",
        "https://evil.example/a.pictures.example",
        "ftp://127.0.0.1/a.png",
      ];
      for (const address of addresses) {
        const one = await member();
        await one.link("acme", address);
        await one.chosen({ source: "acme" });
        const answer = await one.draw();
        assert.equal(answer.status, 200, String(address));
        assert.equal(answer.text, (await one.draw("?fallback")).text);
      }
    });

    it("is removed with its stored claim when the login is unlinked", async () => {
      const one = await member();
      const claim = { source: "custom", icon: "lorc/arrow-flights" };
      await one.chosen(claim);
      await one.link("acme", null);
      await one.link("other", null);
      const shown = await one.chosen({ source: "acme" });
      assert.deepEqual([shown.source, shown.icon], ["acme", claim.icon]);
      const unlink = (provider: string) =>
        app.client.delete(`/v1/users/@me/connections/${provider}`, { token: one.token });
      assert.equal((await unlink("other")).status, 204);
      assert.equal(await one.version(), 2, "another login's end changes nothing");
      assert.equal((await unlink("acme")).status, 204);
      assert.equal(await one.version(), 3);
      const after = await one.chosen({ source: null });
      assert.deepEqual({ ...after, updated_at: "" }, emptySelection);
      assert.ok(namesOf(await available()).includes(claim.icon));
    });
  });
});

function credits(): void {
  it("name every icon author with the licence", async () => {
    const { body } = await app.client.get("/v1/avatars/credits");
    const { authors } = body as {
      authors: { author: string; num_icons: number; licence: string }[];
    };
    const { total, icons, taken_count } = await available();
    assert.equal(
      authors.reduce((sum, { num_icons }) => sum + num_icons, 0),
      total,
    );
    assert.equal(icons.length + taken_count, total);
    const named = new Map(authors.map(({ author, licence }) => [author, licence]));
    assert.ok(icons.every(({ author }) => named.has(author)));
    assert.deepEqual([named.get("lorc"), named.get("zeromancer")], ["CC BY 3.0", "CC0 1.0"]);
  });
}

function drawings(): void {
  it("of an icon are the same bytes for the same style, and differ for another style", async () => {
    const base = "/v1/avatars/icons/acorn";
    const style = "color=red&bg=ice&border=gold&shape=circle&size=64";
    const one = await app.client.get(`${base}?${style}`);
    assert.equal(one.status, 200);
    assert.equal(one.headers.get("content-type"), "image/svg+xml");
    assert.match(one.headers.get("cache-control") ?? "", /^public, max-age=86400/);
    assert.match(one.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal((await app.client.get(`${base}?${style}`)).text, one.text);
    assert.match(one.text, /^<svg [^>]*width="64" height="64"/);
    const etag = one.headers.get("etag") ?? "";
    const known = await app.client.get(`${base}?${style}`, { headers: { "if-none-match": etag } });
    assert.equal(known.status, 304);
    const others = ["color=blue", "bg=sand", "border=", "shape=rect", "size=65"].map((part) => {
      const [name = "", value = ""] = part.split("=");
      const changed = new URLSearchParams(style);
      changed.set(name, value);
      return app.client.get(`${base}?${changed.toString()}`);
    });
    const texts = (await Promise.all(others)).map(({ status, text }) =>
      status === 200 ? text : "",
    );
    assert.equal(new Set([one.text, ...texts]).size, 6);
  });

  it("of an icon are refused for unknown colours and unknown icons", async () => {
    const bad = ["color=x", "color=", "bg=amber", "border=amber", "shape=star", "color=%zz"];
    for (const query of bad) {
      const answer = await app.client.get(`/v1/avatars/icons/acorn?${query}`);
      assert.deepEqual([answer.status, codeOf(answer)], [400, "avatar:invalid_option"], query);
    }
    for (const slug of [
      "nothing-at-all",
      "tarot-13-death",
      "Acorn",
      "%00",
      "a..b",
      "a".repeat(300),
    ]) {
      const answer = await app.client.get(`/v1/avatars/icons/${slug}`);
      assert.equal(answer.status, 404, slug);
    }
  });

  it("have the requested size, within bounds", async () => {
    const sizes = {
      "": 128,
      "size=64": 64,
      "size=1": 16,
      "size=9999": 512,
      "size=99999999999999999999": 512,
      "size=1e2": 128,
      "size=-5": 16,
      "size=-99999999999999999999": 16,
    };
    const one = await member();
    for (const [query, size] of Object.entries({ ...sizes, "size=%zz": 128, "size=": 128 }))
      for (const path of [
        `/v1/players/${one.id}/avatar`,
        "/v1/avatars/icons/acorn",
        "/v1/users/@me/avatar",
      ]) {
        const { text } = await app.client.get(`${path}?${query}`, { token: one.token });
        const root = new RegExp(`^<svg [^>]*width="${size}" height="${size}"`);
        assert.match(text, root, `${path}?${query}`);
      }
  });

  it("of a player are generated from the id until one is chosen, whatever the v parameter", async () => {
    const [a, b] = [await member(), await member()];
    const first = await a.draw("?v=1");
    assert.match(first.headers.get("cache-control") ?? "", /^public, max-age=300/);
    assert.equal((await a.draw("?v=%zz&v=2")).text, first.text);
    assert.notEqual((await b.draw()).text, first.text);
    await a.chosen({ source: "custom", icon: "lorc/ammonite", border: "ember" });
    assert.notEqual((await a.draw()).text, first.text);
    for (const flag of ["fallback", "fallback=true", "fallback=1"])
      assert.equal((await a.draw(`?${flag}`)).text, first.text, flag);
    assert.notEqual((await a.draw("?fallback=false")).text, first.text);
    assert.equal((await a.draw("?fallback=maybe")).status, 400);
    for (const id of ["0", "999999", "99999999999", "x", "-1"]) {
      const answer = await app.client.get(`/v1/players/${id}/avatar`);
      assert.deepEqual([answer.status, codeOf(answer)], [404, "player:not_found"], id);
    }
  });

  it("of a closed account, which stays on the leaderboards, are the generated ones", async () => {
    const one = await member();
    const generated = (await one.draw()).text;
    await one.chosen({ source: "custom", icon: "lorc/ammonite", color: "rose" });
    assert.notEqual((await one.draw()).text, generated);
    assert.equal((await app.client.delete("/v1/users/@me", { token: one.token })).status, 200);
    const after = await one.draw();
    assert.deepEqual([after.status, after.text], [200, generated]);
  });

  it("of the caller need no token and must not be cached", async () => {
    const one = await member();
    const own = await app.client.get("/v1/users/@me/avatar", { token: one.token });
    assert.equal(own.text, (await one.draw()).text);
    assert.equal(own.headers.get("cache-control"), "private, no-store");
    const { access_token: guest } = await enter(app);
    assert.equal((await app.client.get("/v1/users/@me/avatar", { token: guest })).status, 200);
    const nobody = await app.client.get("/v1/users/@me/avatar");
    assert.equal(nobody.status, 200);
    assert.notEqual(nobody.text, own.text);
    assert.equal(
      (await app.client.get("/v1/users/@me/avatar", { token: "bad" })).text,
      nobody.text,
    );
  });
}
