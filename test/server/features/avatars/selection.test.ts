import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { saveConnection } from "../../../../db/queries/social/oauth-connections.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, registerAccount } from "../../../support/identity.ts";

interface Selection {
  source: string | null;
  icon: string | null;
  color: string | null;
  bg: string | null;
  border: string | null;
  upload_id: number | null;
  updated_at: string;
}

interface Available {
  icons: { author: string; slug: string; tags: string[] }[];
  total: number;
  taken_count: number;
  palettes: Record<"colors" | "bgs" | "borders", string[]>;
}

type Answer = { status: number; json: unknown; body: unknown };

const codeOf = ({ json }: Answer) =>
  (json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

let app: App;

/** What the host of the provider's pictures answers, by path; and how often it was asked. */
const pictures = new Map<string, { status: number; type: string }>();
let asked = 0;

const cdn = createServer((request, answer) => {
  asked++;
  const { status, type } = pictures.get(request.url ?? "") ?? { status: 404, type: "text/html" };
  answer.writeHead(status, { "content-type": type, location: "http://127.0.0.1:1/" }).end("x");
});

let cdnUrl = "";
let now = Date.parse("2026-03-01T12:00:00Z");

async function member() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const id = session.player.id;
  const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
  const draw = (query = "") => app.client.get(`/v1/players/${id}/avatar${query}`);
  const chosen = async (body: unknown) => {
    const answer = await choose(body);
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { avatar: Selection }).avatar;
  };
  const version = async () => {
    const rows = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${id}`,
    );
    return rows[0]?.v ?? -1;
  };
  const link = (provider: string, avatarUrl: string | null) =>
    saveConnection(
      app.deps.em,
      { playerId: id, provider, subject: `s${id}`, name: null, avatarUrl },
      new Date(now),
    );
  return { id, token, choose, chosen, draw, version, link };
}

const available = async (query = "") =>
  (await app.client.get(`/v1/avatars/available${query}`)).body as Available;

const namesOf = ({ icons }: Available) => icons.map(({ author, slug }) => `${author}/${slug}`);

const emptySelection: Selection = {
  source: null,
  icon: null,
  color: null,
  bg: null,
  border: null,
  upload_id: null,
  updated_at: "",
};

describe("the choice of an avatar", () => {
  before(async () => {
    await new Promise<void>((done) => cdn.listen(0, "127.0.0.1", done));
    cdnUrl = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}`;
    app = await startApp({
      hasJobs: false,
      clock: { now: () => now },
      env: {
        AVATAR_CDN_HOSTS: "127.0.0.1,*.pictures.example",
        OAUTH_ACME_CLIENT_ID: "a",
        OAUTH_ACME_ISSUER: "https://acme.example",
        OAUTH_OTHER_CLIENT_ID: "o",
        OAUTH_OTHER_ISSUER: "https://other.example",
      },
    });
  });
  after(async () => {
    await app.stop();
    cdn.closeAllConnections();
    await new Promise((done) => cdn.close(done));
  });

  describe("choosing an avatar", choosingAvatar);
  describe("the list of available icons", listAvailableIcons);
  describe("the credits", credits);
  describe("drawings", drawings);
  describe("the picture of a social login", pictureSocialLogin);
});

function choosingAvatar(): void {
  describe("claims a combination once", claimsCombinationOnce);
  describe("keeps, lets go and refuses", keepsLetsGoRefuses);
}

function claimsCombinationOnce(): void {
  it("claims a combination with its defaults, and says so wherever the player is shown", async () => {
    const one = await member();
    const avatar = await one.chosen({ source: "custom", icon: "lorc/acorn" });
    const expected = { source: "custom", icon: "lorc/acorn", color: "amber", bg: "slate" };
    assert.deepEqual(avatar, {
      ...expected,
      border: null,
      upload_id: null,
      updated_at: "2026-03-01T12:00:00+00:00",
    });
    const { player } = (
      await app.client.post("/v1/gateway/login", {
        body: { identifier: (await loginOf(one.id)).email, password: "correct horse 1" },
      })
    ).body as { player: { avatar: unknown; avatar_url: string } };
    assert.deepEqual(player.avatar, expected);
    assert.equal(player.avatar_url, `/v1/players/${one.id}/avatar?v=1`);
    const lobby = await app.client.post("/v1/games/trivia/lobbies", {
      token: one.token,
      body: { hostName: "Ada", mode: "versus", category: "science", timer: 30, numQuestions: 3 },
    });
    const seats = (lobby.body as { lobby: { players: { avatar_url: string }[] } }).lobby.players;
    assert.equal(seats[0]?.avatar_url, player.avatar_url);
    assert.match(
      (await one.draw()).text,
      /<desc>Icon by Lorc, game-icons\.net, CC BY 3\.0<\/desc>/,
    );
  });

  it("has one winner among 200 who claim the same at once", async () => {
    const ids = await rowsOf(
      app.deps.em,
      sql<{ id: number }>`insert into players (name, name_key, is_guest, realm)
        select 'racer' || n, 'racer' || n, false, 'default' from generate_series(1, 200) n returning id`,
    );
    const claim = {
      source: "custom",
      icon: "lorc/anchor",
      color: "red",
      bg: "ice",
      border: "gold",
    };
    const answers = await Promise.all(
      ids.map(async ({ id }) => {
        const roles = ["ROLE_REGISTERED"];
        const token = app.deps.tokens.sign("access", String(id), 600, { roles });
        const ask = () => app.client.patch("/v1/users/@me/avatar", { token, body: claim });
        let answer = await ask();
        // On a busy machine the line for a connection may take too long: they come again.
        while (answer.status === 503) answer = await ask();
        return answer;
      }),
    );
    const winners = answers.filter(({ status }) => status === 200);
    const losers = answers.filter(({ status }) => status === 409);
    assert.deepEqual([winners.length, losers.length], [1, 199]);
    const { icon, color, bg } = claim;
    for (const loser of losers) {
      assert.equal(codeOf(loser), "avatar:combination_taken");
      assert.deepEqual(loser.body, { error: "combination_taken", icon, color, bg });
    }
    const held = await rowsOf(
      app.deps.em,
      sql<{ n: number }>`select count(*)::int as n from players where avatar_icon = ${icon}`,
    );
    assert.equal(held[0]?.n, 1);
  });

  it("never fails when players want each other's combination at the same moment", async () => {
    const [a, b] = [await member(), await member()];
    const of = (color: string) => ({ source: "custom", icon: "lorc/axe-swing", color });
    for (let round = 0; round < 5; round++) {
      await a.chosen({ source: null });
      await b.chosen({ source: null });
      await a.chosen(of("red"));
      await b.chosen(of("blue"));
      const both = await Promise.all([a.choose(of("blue")), b.choose(of("red"))]);
      for (const { status, text } of both) assert.ok(status === 200 || status === 409, text);
      assert.ok(
        both.some(({ status }) => status === 409),
        "nobody let go first",
      );
    }
  });
}

function keepsLetsGoRefuses(): void {
  it("keeps what is already held, and the border that is not named", async () => {
    const one = await member();
    const claim = { source: "custom", icon: "lorc/bat-wing", color: "sky", bg: "navy" };
    await one.chosen({ ...claim, border: "silver" });
    now += 60_000;
    const again = await one.chosen(claim);
    assert.deepEqual([again.border, again.updated_at], ["silver", "2026-03-01T12:00:00+00:00"]);
    assert.equal(await one.version(), 1, "nothing changed");
    assert.equal((await one.chosen({ ...claim, border: null })).border, null);
    assert.equal(await one.version(), 2);
  });

  it("lets a combination go for another one, and for none", async () => {
    const [a, b] = [await member(), await member()];
    const claim = { source: "custom", icon: "lorc/bat-blade", color: "lime", bg: "plum" };
    await a.chosen(claim);
    assert.equal((await b.choose(claim)).status, 409);
    await a.chosen({ ...claim, color: "teal" });
    await b.chosen(claim);
    const none = await b.chosen({ source: null, icon: null, color: null });
    assert.deepEqual({ ...none, updated_at: "" }, emptySelection);
    await a.chosen(claim);
  });

  it("refuses what no palette or catalogue has, and ignores it where it does not matter", async () => {
    const one = await member();
    const good = { source: "custom", icon: "lorc/acid-blob" };
    const wrong = [
      { source: "custom" },
      { ...good, icon: null },
      { ...good, icon: "skoll/acid-blob" },
      { ...good, icon: "acid-blob" },
      { ...good, icon: "lorc/tarot-13-death" },
      { ...good, icon: `lorc/${"a".repeat(80)}` },
      { ...good, color: "mauve" },
      { ...good, color: "__proto__" },
      { ...good, bg: "amber" },
      { ...good, border: "" },
      { source: "nowhere" },
      { source: "" },
    ];
    for (const body of wrong) {
      const answer = await one.choose(body);
      assert.deepEqual(
        [answer.status, codeOf(answer)],
        [400, "avatar:invalid_option"],
        JSON.stringify(body),
      );
    }
    assert.equal(codeOf(await one.choose({})), "validation:failed");
    assert.equal(codeOf(await one.choose({ source: 7 })), "validation:failed");
    assert.equal(codeOf(await one.choose({ source: "upload" })), "avatar:no_approved_upload");
    assert.equal(codeOf(await one.choose({ source: "acme" })), "avatar:provider_not_linked");
    await one.chosen({ source: null, color: "mauve", bg: "none", icon: "x" });
    assert.equal(await one.version(), 0);
  });

  it("is for accounts; a guest may only ask for the generated picture", async () => {
    const { access_token: token, player } = await enter(app);
    const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
    for (const source of ["custom", "upload", "acme", "nowhere"])
      assert.equal(codeOf(await choose({ source, icon: "lorc/ace" })), "avatar:guest_forbidden");
    const none = await choose({ source: null });
    assert.deepEqual(
      { ...(none.body as { avatar: Selection }).avatar, updated_at: "" },
      emptySelection,
    );
    assert.equal((await app.client.get(`/v1/players/${player.id}/avatar`)).status, 200);
    assert.equal((await app.client.patch("/v1/users/@me/avatar", { body: {} })).status, 401);
  });
}

function listAvailableIcons(): void {
  it("leaves out what others hold in any colour, and keeps the caller's own", async () => {
    const before = await available();
    assert.ok(before.total >= 500, `${before.total} icons`);
    assert.equal(before.icons.length + before.taken_count, before.total);
    assert.deepEqual(before.palettes.borders, [
      "gold",
      "silver",
      "bronze",
      "iron",
      "ember",
      "ingot",
    ]);
    assert.deepEqual([before.palettes.colors.length, before.palettes.bgs.length], [18, 12]);
    assert.deepEqual(
      before.icons.find(({ slug }) => slug === "battle-axe"),
      { author: "lorc", slug: "battle-axe", tags: ["battle", "axe"] },
    );
    const [a, b] = [await member(), await member()];
    const claim = { source: "custom", icon: "lorc/battle-axe" };
    await a.chosen(claim);
    const without = await available();
    assert.equal(without.taken_count, before.taken_count + 1);
    assert.ok(!namesOf(without).includes(claim.icon));
    assert.ok(namesOf(await available(`?mine=${a.id}`)).includes(claim.icon));
    assert.ok(!namesOf(await available(`?mine=${b.id}`)).includes(claim.icon));
    await b.chosen({ ...claim, color: "white" });
    const shared = await available(`?mine=${a.id}`);
    assert.ok(!namesOf(shared).includes(claim.icon), "another player holds it too");
    assert.equal(shared.icons.length + shared.taken_count, shared.total);
  });

  it("may be kept for half a minute, and takes any number for a player", async () => {
    const answer = await app.client.get("/v1/avatars/available?mine=99999999999");
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("cache-control") ?? "", /^private, max-age=30/);
    assert.equal((await app.client.get("/v1/avatars/available?mine=x")).status, 400);
  });
}

function credits(): void {
  it("name every author of an icon with the licence", async () => {
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
  it("of an icon are the same bytes for the same look, and others for another", async () => {
    const base = "/v1/avatars/icons/acorn";
    const look = "color=red&bg=ice&border=gold&shape=circle&size=64";
    const one = await app.client.get(`${base}?${look}`);
    assert.equal(one.status, 200);
    assert.equal(one.headers.get("content-type"), "image/svg+xml");
    assert.match(one.headers.get("cache-control") ?? "", /^public, max-age=86400/);
    assert.match(one.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal((await app.client.get(`${base}?${look}`)).text, one.text);
    assert.match(one.text, /^<svg [^>]*width="64" height="64"/);
    const etag = one.headers.get("etag") ?? "";
    const known = await app.client.get(`${base}?${look}`, { headers: { "if-none-match": etag } });
    assert.equal(known.status, 304);
    const others = ["color=blue", "bg=sand", "border=", "shape=rect", "size=65"].map((part) => {
      const [name = "", value = ""] = part.split("=");
      const changed = new URLSearchParams(look);
      changed.set(name, value);
      return app.client.get(`${base}?${changed.toString()}`);
    });
    const texts = (await Promise.all(others)).map(({ status, text }) =>
      status === 200 ? text : "",
    );
    assert.equal(new Set([one.text, ...texts]).size, 6);
  });

  it("of an icon are refused in colours nobody has, and of icons nobody drew", async () => {
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

  it("have the size that was asked for, within bounds", async () => {
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

  it("of a player are generated from the id until something is chosen, whatever v says", async () => {
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

  it("of a closed account, which stays on the boards, are the generated ones", async () => {
    const one = await member();
    const generated = (await one.draw()).text;
    await one.chosen({ source: "custom", icon: "lorc/ammonite", color: "rose" });
    assert.notEqual((await one.draw()).text, generated);
    assert.equal((await app.client.delete("/v1/users/@me", { token: one.token })).status, 200);
    const after = await one.draw();
    assert.deepEqual([after.status, after.text], [200, generated]);
  });

  it("of oneself need no token, and are nobody else's to keep", async () => {
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

function pictureSocialLogin(): void {
  it("is where the browser is sent to, and checked once in ten minutes", async () => {
    const one = await member();
    pictures.set("/a.png", { status: 200, type: "image/png" });
    await one.link("acme", `${cdnUrl}/a.png`);
    assert.equal((await one.chosen({ source: "acme" })).source, "acme");
    asked = 0;
    for (let i = 0; i < 3; i++) {
      const answer = await one.draw();
      assert.deepEqual([answer.status, answer.headers.get("location")], [302, `${cdnUrl}/a.png`]);
    }
    const own = await app.client.get("/v1/users/@me/avatar", { token: one.token });
    assert.deepEqual([own.status, own.headers.get("location")], [302, `${cdnUrl}/a.png`]);
    assert.equal(asked, 1);
    assert.equal((await one.draw("?fallback=true")).status, 200);
    pictures.set("/a.png", { status: 404, type: "text/html" });
    now += 600_000;
    assert.equal((await one.draw()).status, 200);
    assert.equal(asked, 2);
  });

  it("is generated when its host, its address or its answer is not as configured", async () => {
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

  it("goes when the login is unlinked, and the claim that was kept beside it with it", async () => {
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
}

async function loginOf(id: number): Promise<{ email: string }> {
  const rows = await rowsOf(
    app.deps.em,
    sql<{ email: string }>`select email from players where id = ${id}`,
  );
  return { email: rows[0]?.email ?? "" };
}
