import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import {
  cookieOf,
  enter,
  post,
  registerAccount,
  tally,
  tokenOf,
} from "../../../support/identity.ts";

const daySeconds = 86_400;

const clearedCookie =
  /^svc_refresh=; Max-Age=0; Path=\/v1\/gateway; HttpOnly; Secure; SameSite=None$/;

const clock = manualClock();
let app: App;

const refresh = (token: string, by: "cookie" | "body" = "body") =>
  by === "cookie"
    ? post(app, "/v1/gateway/refresh", {}, cookieOf(token))
    : post(app, "/v1/gateway/refresh", { refresh_token: token });

describe("a session", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("POST /v1/gateway/refresh", () => {
    it("rotates the token and sets the cookie, for guests with a reclaim token", async () => {
      const guest = await enter(app);
      const answer = await refresh(guest.refresh_token, "cookie");
      assert.equal(answer.status, 200);
      assert.notEqual(answer.body.refresh_token, guest.refresh_token);
      assert.deepEqual(answer.body.player, guest.player);
      assert.ok(answer.body.reclaim_token);
      const cookie = answer.headers.get("set-cookie") ?? "";
      assert.ok(cookie.startsWith(`svc_refresh=${answer.body.refresh_token}; `));
      assert.match(cookie, /Max-Age=63072000/);
      const { session } = await registerAccount(app);
      const registered = await refresh(session.refresh_token);
      assert.equal(registered.body.reclaim_token, undefined);
      assert.deepEqual(registered.body.player, session.player);
      assert.match(registered.headers.get("set-cookie") ?? "", /Max-Age=2592000/);
    });

    it("rotates once for fifty concurrent uses, and every response works", async () => {
      const guest = await enter(app);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refresh(guest.refresh_token)),
      );
      assert.deepEqual(tally(answers), { "200": 50 });
      const generations = answers.map(
        ({ body }) => app.deps.tokens.verify("refresh", body.refresh_token)?.gen,
      );
      assert.deepEqual([...new Set(generations)], [1]);
      const next = await Promise.all(
        answers.map(({ body }) => refresh(body.refresh_token, "cookie")),
      );
      assert.deepEqual(tally(next), { "200": 50 });
    });

    it("accepts the previous token for thirty seconds, and ends the session after that", async () => {
      const guest = await enter(app);
      const rotated = await refresh(guest.refresh_token);
      clock.advance(29_000);
      assert.equal((await refresh(guest.refresh_token)).status, 200);
      clock.advance(2_000);
      const reused = await refresh(guest.refresh_token, "cookie");
      assert.deepEqual([reused.status, reused.code], [401, "auth:refresh_reused"]);
      assert.match(reused.headers.get("set-cookie") ?? "", clearedCookie);
      const ended = await refresh(rotated.body.refresh_token);
      assert.deepEqual([ended.status, ended.code], [401, "auth:refresh_invalid"]);
    });

    it("ends the session for a token two generations old, even at once", async () => {
      const first = await enter(app);
      const second = await refresh(first.refresh_token);
      const third = await refresh(second.body.refresh_token);
      assert.equal((await refresh(first.refresh_token)).code, "auth:refresh_reused");
      assert.equal((await refresh(third.body.refresh_token)).code, "auth:refresh_invalid");
    });

    it("goes on from a token newer than the database, which was set back, and ends for older ones", async () => {
      const tokens = [(await enter(app)).refresh_token];
      for (let n = 0; n < 3; n++)
        tokens.push((await refresh(tokens.at(-1) ?? "")).body.refresh_token);
      const [, older = "", , newest = ""] = tokens;
      const family = app.deps.tokens.verify("refresh", newest)?.fam ?? "";
      const setBack = { generation: 0, rotatedAt: null };
      await app.deps.em.nativeUpdate(TokenFamilySchema, { id: family }, setBack);
      const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(newest)));
      assert.deepEqual(tally(answers), { "200": 5 });
      assert.equal((await refresh(older)).code, "auth:refresh_reused");
      assert.equal(
        (await refresh(answers[0]?.body.refresh_token ?? "")).code,
        "auth:refresh_invalid",
      );
    });

    it("prefers the cookie to the body", async () => {
      const guest = await enter(app);
      const answer = await post(
        app,
        "/v1/gateway/refresh",
        { refresh_token: guest.refresh_token },
        cookieOf("nonsense"),
      );
      assert.deepEqual([answer.status, answer.code], [401, "auth:refresh_invalid"]);
      assert.equal((await refresh(guest.refresh_token)).status, 200);
    });

    it("refuses a missing token and tokens of other purposes", async () => {
      const guest = await enter(app);
      const bodies = [
        {},
        undefined,
        { refresh_token: null },
        { refresh_token: "x".repeat(5_000) },
        { refresh_token: guest.access_token },
      ];
      for (const body of bodies) {
        const answer = await post(app, "/v1/gateway/refresh", body);
        assert.deepEqual([answer.status, answer.code], [401, "auth:refresh_invalid"]);
      }
    });

    it("refuses a foreign origin, and form bodies, when the credential is a cookie", async () => {
      const guest = await enter(app);
      const foreign = { ...cookieOf(guest.refresh_token), origin: "https://evil.example" };
      const answer = await post(app, "/v1/gateway/refresh", {}, foreign);
      assert.deepEqual([answer.status, answer.code], [403, "request:origin_forbidden"]);
      const form = {
        ...cookieOf(guest.refresh_token),
        "content-type": "application/x-www-form-urlencoded",
      };
      assert.equal((await post(app, "/v1/gateway/refresh", {}, form)).status, 415);
    });

    it("extends a registered account by 30 days each time, up to 180 in all", async () => {
      let { session } = await registerAccount(app);
      const opened = clock.now() / 1000;
      for (let day = 0; day < 180; day += 20) {
        const claims = app.deps.tokens.verify("refresh", session.refresh_token);
        assert.ok(claims);
        const end = Math.min(claims.iat + 30 * daySeconds, opened + 180 * daySeconds);
        assert.ok(Math.abs(claims.exp - end) <= 1);
        clock.advance(20 * daySeconds * 1000);
        const answer = await refresh(session.refresh_token);
        if (day < 160) assert.equal(answer.status, 200);
        else assert.equal(answer.code, "auth:refresh_invalid");
        session = answer.body ?? session;
      }
    });
  });
  describe("POST /v1/gateway/logout", () => {
    it("clears the cookie and ends the session of the cookie", async () => {
      const guest = await enter(app);
      const copied = (await refresh(guest.refresh_token)).body.refresh_token;
      const answer = await post(app, "/v1/gateway/logout", undefined, cookieOf(copied));
      assert.equal(answer.status, 200);
      assert.equal(answer.body, undefined);
      assert.match(answer.headers.get("set-cookie") ?? "", clearedCookie);
      assert.equal((await refresh(copied)).code, "auth:refresh_invalid");
    });

    it("returns the same without a cookie or with an invalid one, and ends no session", async () => {
      const guest = await enter(app);
      for (const headers of [{}, cookieOf("x"), cookieOf(guest.access_token), tokenOf(guest)]) {
        const answer = await post(app, "/v1/gateway/logout", undefined, headers);
        assert.equal(answer.status, 200);
        assert.match(answer.headers.get("set-cookie") ?? "", clearedCookie);
      }
      assert.equal((await refresh(guest.refresh_token)).status, 200);
    });

    it("refuses foreign pages and forms, and ends no session for them", async () => {
      const guest = await enter(app);
      const logout = (headers: Record<string, string>) =>
        post(app, "/v1/gateway/logout", undefined, {
          ...cookieOf(guest.refresh_token),
          ...headers,
        });
      for (const page of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
        const answer = await logout(page);
        assert.deepEqual([answer.status, answer.code], [403, "request:origin_forbidden"]);
      }
      for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
        const answer = await logout({ "content-type": type });
        assert.deepEqual([answer.status, answer.code], [415, "request:unsupported_media_type"]);
      }
      assert.equal((await refresh(guest.refresh_token)).status, 200);
    });

    it("leaves the access token valid until it expires", async () => {
      const guest = await enter(app);
      await post(app, "/v1/gateway/logout", undefined, cookieOf(guest.refresh_token));
      const path = "/v1/tokens/validate";
      assert.equal((await app.client.get(path, { token: guest.access_token })).status, 200);
      clock.advance(3_600_000);
      assert.equal((await app.client.get(path, { token: guest.access_token })).status, 401);
    });
  });
  describe("GET /v1/tokens/validate", () => {
    it("returns player, roles, realm and expiry", async () => {
      const guest = await enter(app);
      const { body } = await app.client.get("/v1/tokens/validate", { token: guest.access_token });
      const expiry = Math.floor(clock.now() / 1000 + 3_600) * 1000;
      assert.deepEqual(body, {
        valid: true,
        player_id: guest.player.id,
        roles: ["ROLE_GUEST"],
        realm: "default",
        expires_at: `${new Date(expiry).toISOString().slice(0, 19)}+00:00`,
      });
    });

    it("refuses all other tokens", async () => {
      const guest = await enter(app);
      assert.equal((await app.client.get("/v1/tokens/validate")).status, 401);
      for (const token of [
        "x",
        guest.refresh_token,
        guest.reclaim_token ?? "",
        `${guest.access_token}x`,
      ])
        assert.equal((await app.client.get("/v1/tokens/validate", { token })).status, 401);
    });
  });
});
