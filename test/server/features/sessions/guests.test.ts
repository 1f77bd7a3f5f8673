import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EntityManager } from "@mikro-orm/postgresql";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { voidReclaimTokens } from "../../../../db/queries/accounts/accounts.ts";
import { revokeFamiliesOf } from "../../../../db/queries/sessions/token-families.ts";
import { enterAsGuest } from "../../../../server/features/sessions/guests.ts";
import { refresh } from "../../../../server/features/sessions/service.ts";
import { keepFavorite } from "../../../../server/features/progress/service.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, post, tally, tokenOf, uniqueName } from "../../../support/identity.ts";
import { correctIndexOf, fillBank, runner } from "../runs/game.ts";

let app: App;

describe("POST /v1/gateway/guest", () => {
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  describe("creates a guest", () => {
    it("creates a guest with a unique name and only the documented fields", async () => {
      const answer = await post(app, "/v1/gateway/guest", {});
      assert.equal(answer.status, 200);
      const { player, ...session } = answer.body;
      assert.deepEqual(Object.keys(player).toSorted(), ["id", "is_guest", "name", "roles"]);
      assert.match(player.name, /^Guest_[a-z0-9]{8}$/);
      assert.equal(player.is_guest, true);
      assert.deepEqual(player.roles, ["ROLE_GUEST"]);
      assert.equal(session.token_type, "Bearer");
      assert.equal(session.expires_in, 3600);
      assert.equal(answer.headers.get("cache-control"), "no-store");
    });

    it("sets the refresh cookie for two years", async () => {
      const answer = await post(app, "/v1/gateway/guest", {});
      const [pair, ...attributes] = (answer.headers.get("set-cookie") ?? "").split("; ");
      assert.equal(pair, `svc_refresh=${answer.body.refresh_token}`);
      assert.deepEqual(attributes.toSorted(), [
        "HttpOnly",
        "Max-Age=63072000",
        "Path=/v1/gateway",
        "SameSite=None",
        "Secure",
      ]);
    });

    it("records the token claims: purpose, lifetime, realm, family", async () => {
      const { body } = await post(app, "/v1/gateway/guest", {}, { "x-realm": "gamedata" });
      const { tokens } = app.deps;
      const access = tokens.verify("access", body.access_token);
      const refresh = tokens.verify("refresh", body.refresh_token);
      const reclaim = tokens.verify("reclaim", body.reclaim_token ?? "");
      assert.ok(access && refresh && reclaim);
      assert.equal(access.realm, "gamedata");
      assert.equal(access.name, body.player.name);
      assert.equal(access.fam, refresh.fam);
      assert.equal(access.exp - access.iat, 3_600);
      assert.equal(refresh.exp - refresh.iat, 730 * 86_400);
      assert.equal(reclaim.exp - reclaim.iat, 730 * 86_400);
      assert.equal(reclaim.sub, String(body.player.id));
    });

    it("falls back to the default realm when the named one does not exist", async () => {
      const { body } = await post(app, "/v1/gateway/guest", {}, { "x-realm": "nowhere" });
      assert.equal(app.deps.tokens.verify("access", body.access_token)?.realm, "default");
    });

    it("assigns a name once, in any case and under concurrent requests", async () => {
      const name = uniqueName();
      const spellings = Array.from({ length: 20 }, (_, i) => (i % 2 ? name : name.toUpperCase()));
      const answers = await Promise.all(
        spellings.map((username) => post(app, "/v1/gateway/guest", { username })),
      );
      assert.deepEqual(tally(answers), { "200": 1, "409 guest:username_taken": 19 });
    });

    it("refuses names that are too short, too long, or contain other characters", async () => {
      for (const username of ["ab", "a".repeat(21), "a b c", "naïve", "", 5]) {
        const answer = await post(app, "/v1/gateway/guest", { username });
        assert.equal(answer.status, 422);
        assert.deepEqual(
          answer.json.flash?.violations?.map((violation) => violation.propertyPath),
          ["username"],
        );
      }
    });

    it("returns 500 when ten generated names in a row are taken", async () => {
      const { body } = await post(app, "/v1/gateway/guest", {});
      let tries = 0;
      const sameName = () => {
        tries += 1;
        return body.player.name;
      };
      const clientInfo = { realm: "default", userAgent: null };
      const input = { username: null, reclaimToken: null };
      await assert.rejects(enterAsGuest(app.deps, input, clientInfo, sameName), {
        code: "guest:username_unavailable",
      });
      assert.equal(tries, 10);
    });
  });
  describe("reclaims a guest", () => {
    it("returns the same player for a reclaim token, with a token of the next generation", async () => {
      const first = await enter(app);
      const again = await post(app, "/v1/gateway/guest", {
        reclaimToken: first.reclaim_token,
        username: "ignored_name",
      });
      assert.equal(again.status, 200);
      assert.deepEqual(again.body.player, first.player);
      const generation = (token: string | undefined) =>
        app.deps.tokens.verify("reclaim", token ?? "")?.gen ?? -1;
      assert.equal(generation(again.body.reclaim_token), generation(first.reclaim_token) + 1);
      const older = await post(app, "/v1/gateway/guest", { reclaimToken: first.reclaim_token });
      assert.equal(older.body.player.id, first.player.id);
    });

    it("opens no session by a refresh during which an operator ended every session", async () => {
      const guest = await enter(app);
      const em = interruptedBy(app.deps.orm.em.fork(), () =>
        app.deps.em.transactional(async (inner) => {
          await revokeFamiliesOf(inner, guest.player.id, new Date(app.deps.clock.now()));
          await voidReclaimTokens(inner, guest.player.id);
        }),
      );
      const { body } = await refresh({ ...app.deps, em }, guest.refresh_token);
      for (const [path, given] of [
        ["/v1/gateway/guest", { reclaimToken: body.reclaim_token }],
        ["/v1/gateway/refresh", { refresh_token: body.refresh_token }],
      ] as const)
        assert.equal((await post(app, path, given)).status, 401, path);
    });

    it("refuses the token of a guest whose id belongs to another after a database restore", async () => {
      const lost = await enter(app);
      const { id } = lost.player;
      const em = app.deps.em.fork();
      await em.nativeDelete(TokenFamilySchema, { player: id });
      await em.nativeDelete(PlayerSchema, { id });
      await em.execute("select setval('players_id_seq', ?)", [id - 1]);
      const found = await enter(app);
      assert.equal(found.player.id, id);
      const answer = await post(app, "/v1/gateway/guest", { reclaimToken: lost.reclaim_token });
      assert.deepEqual([answer.status, answer.code], [401, "auth:token_invalid"]);
      const own = await post(app, "/v1/gateway/guest", { reclaimToken: found.reclaim_token });
      assert.equal(own.body.player.id, id);
    });

    it("accepts the reclaim token of a guest created before generations existed", async () => {
      const guest = await enter(app);
      const { id } = guest.player;
      const generations = { reclaimGeneration: 0, reclaimVoidBelow: 0 };
      await app.deps.em.fork().nativeUpdate(PlayerSchema, { id }, generations);
      const old = app.deps.tokens.sign("reclaim", String(id), 3_600, { gen: 0 });
      const answer = await post(app, "/v1/gateway/guest", { reclaimToken: old });
      assert.equal(answer.body.player.id, id);
    });

    it("refuses an invalid reclaim token without creating a guest", async () => {
      const guest = await enter(app);
      const count = () => app.deps.orm.em.fork().count(PlayerSchema, {});
      const players = await count();
      const others = ["", "x", "x".repeat(5_000), guest.access_token, guest.refresh_token];
      for (const reclaimToken of others) {
        const answer = await post(app, "/v1/gateway/guest", { reclaimToken });
        assert.deepEqual([answer.status, answer.code], [401, "auth:token_invalid"]);
      }
      assert.equal(await count(), players);
    });
  });
});

describe("POST /v1/gateway/upgrade", () => {
  let app: App;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  const account = () => ({ email: `${uniqueName()}@example.com`, password: "long enough" });

  it("keeps the id and name, and returns a registered account", async () => {
    const guest = await enter(app);
    const body = { ...account(), display_name: "  Ada  " };
    const answer = await post(app, "/v1/gateway/upgrade", body, tokenOf(guest));
    assert.equal(answer.status, 200);
    const { player } = answer.body;
    assert.equal(player.id, guest.player.id);
    assert.equal(player.username, guest.player.name);
    assert.equal(player.display_name, "Ada");
    assert.equal(player.email, body.email);
    assert.equal(player.email_verified_at, null);
    assert.deepEqual(player.roles, ["ROLE_REGISTERED"]);
    assert.equal(answer.body.reclaim_token, undefined);
    assert.match(answer.headers.get("set-cookie") ?? "", /Max-Age=2592000/);
    const login = await post(app, "/v1/gateway/login", {
      identifier: guest.player.name.toUpperCase(),
      password: body.password,
    });
    assert.equal(login.body.player.id, guest.player.id);
  });

  it("keeps the player's games, favorites and progress", async () => {
    await fillBank(app, 2, ["science"]);
    const guest = await runner(app);
    const { run, question } = await guest.start("endless", { category: "science" });
    await guest.answer(run.id, await correctIndexOf(app, question.id), 1_000);
    await keepFavorite(app.deps, guest.id, question.id);
    await guest.get("/leaderboard?tab=xp");
    const read = async () => ({
      state: (await guest.get("/state")).body,
      board: (await guest.get("/leaderboard?tab=xp")).body,
      run: await guest.read(run.id),
      embers: await guest.embers(),
    });
    const before = await read();
    const upgraded = await post(app, "/v1/gateway/upgrade", account(), guest.headers);
    assert.equal(upgraded.body.player.id, guest.id);
    Object.assign(guest.headers, tokenOf(upgraded.body));
    const { entries } = before.board as {
      entries: { player_id: number; name: string; is_guest: boolean }[];
    };
    for (const entry of entries) entry.is_guest = false;
    const shown = entries.map(({ player_id: id, name }) => ({ id, name }));
    const { display_name: name = "" } = upgraded.body.player;
    assert.deepEqual(shown, [{ id: guest.id, name }]);
    assert.deepEqual(await read(), before);
    const { favorites } = (await guest.get("/favorites")).body as {
      favorites: { question: { id: number } }[];
    };
    assert.deepEqual(
      favorites.map((favorite) => favorite.question.id),
      [question.id],
    );
  });

  it("invalidates the guest's refresh and reclaim tokens", async () => {
    const guest = await enter(app);
    await post(app, "/v1/gateway/upgrade", account(), tokenOf(guest));
    const refreshed = await post(app, "/v1/gateway/refresh", {
      refresh_token: guest.refresh_token,
    });
    assert.deepEqual([refreshed.status, refreshed.code], [401, "auth:refresh_invalid"]);
    const reclaim = await post(app, "/v1/gateway/guest", { reclaimToken: guest.reclaim_token });
    assert.deepEqual([reclaim.status, reclaim.code], [401, "auth:token_invalid"]);
  });

  it("ends the guest's writes also in a process that has not heard of it", async () => {
    const guest = await enter(app);
    const write = (method: string, path: string, body: object) =>
      app.client.request(method, `/v1/games/trivia${path}`, { body, headers: tokenOf(guest) });
    const writes = async (theme: string) => [
      await write("PATCH", "/preferences", { theme }),
      await write("POST", "/session/end", {}),
    ];
    for (const { status } of await writes("dark")) assert.ok(status < 300, String(status));
    // As another process writes it.
    const { id } = guest.player;
    await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id }, { isGuest: false });
    for (const { status } of await writes("light")) assert.equal(status, 401);
  });

  it("succeeds during a refresh, which then opens no session", async () => {
    const guest = await enter(app);
    const em = interruptedBy(app.deps.orm.em.fork(), () =>
      post(app, "/v1/gateway/upgrade", account(), tokenOf(guest)),
    );
    await assert.rejects(refresh({ ...app.deps, em }, guest.refresh_token), {
      code: "auth:refresh_invalid",
    });
  });

  it("succeeds once under concurrent calls", async () => {
    const guest = await enter(app);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post(app, "/v1/gateway/upgrade", account(), tokenOf(guest))),
    );
    assert.deepEqual(tally(answers), { "200": 1, "403 auth:forbidden": 49 });
  });

  it("refuses registered accounts, anonymous callers, and addresses that are taken", async () => {
    const guest = await enter(app);
    const body = account();
    const { body: registered } = await post(app, "/v1/gateway/upgrade", body, tokenOf(guest));
    const again = await post(app, "/v1/gateway/upgrade", account(), tokenOf(registered));
    assert.deepEqual([again.status, again.code], [403, "auth:forbidden"]);
    const anonymous = await post(app, "/v1/gateway/upgrade", account());
    assert.deepEqual([anonymous.status, anonymous.code], [401, "auth:required"]);
    const bad = { authorization: `Bearer ${guest.refresh_token}` };
    const invalid = await post(app, "/v1/gateway/upgrade", account(), bad);
    assert.deepEqual([invalid.status, invalid.code], [401, "auth:token_invalid"]);
    const other = await enter(app);
    const sameEmail = { ...account(), email: body.email.toUpperCase() };
    const taken = await post(app, "/v1/gateway/upgrade", sameEmail, tokenOf(other));
    assert.deepEqual([taken.status, taken.code], [409, "user:email_taken"]);
  });

  it("names every invalid field at once", async () => {
    const guest = await enter(app);
    const bad = { email: "nobody", password: "short", display_name: " " };
    const answer = await post(app, "/v1/gateway/upgrade", bad, tokenOf(guest));
    assert.equal(answer.status, 422);
    const fields = answer.json.flash?.violations?.map((violation) => violation.propertyPath);
    assert.deepEqual(fields?.toSorted(), ["display_name", "email", "password"]);
  });
});

/** An `em` that triggers an event after its first statement. */
function interruptedBy(em: EntityManager, happens: () => Promise<unknown>): EntityManager {
  let isFirst = true;
  const kysely = em.getKysely().withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isFirst) {
        isFirst = false;
        await happens();
      }
      return result;
    },
  });
  return Object.assign(em, { getKysely: () => kysely });
}
