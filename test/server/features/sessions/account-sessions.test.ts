import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { findOpenPlayer, recordLogin } from "../../../../db/queries/accounts/players.ts";
import { openSession } from "../../../../server/features/sessions/sessions.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { refusalIn } from "../../../support/client.ts";
import {
  cookieOf,
  enter,
  password,
  post,
  registerAccount,
  tokenOf,
  uniqueName,
} from "../../../support/identity.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { sentMessage } from "../../../support/messages.ts";

const path = "/v1/users/@me/sessions";
const clock = manualClock();
let app: App;

interface Row {
  id: string;
  created_at: string;
  last_used_at: string;
  user_agent: string | null;
  is_current: boolean;
}

const list = async (token: string) =>
  ((await app.client.get(path, { token })).body as { sessions: Row[] }).sessions;

const signIn = (email: string, device: string) =>
  post(app, "/v1/gateway/login", { identifier: email, password }, { "user-agent": device });

const refresh = (token: string) => post(app, "/v1/gateway/refresh", { refresh_token: token });

describe("account sessions", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("the sessions of an account", () => {
    it("are listed, the most recently used first, with the caller's own marked", async () => {
      const { email, session } = await registerAccount(app);
      clock.advance(60_000);
      const phone = await signIn(email, "phone");
      clock.advance(60_000);
      await refresh(session.refresh_token);
      const rows = await list(phone.body.access_token);
      assert.equal(rows.length, 2);
      assert.deepEqual(
        rows.map(({ user_agent, is_current }) => [user_agent === "phone", is_current]),
        [
          [false, false],
          [true, true],
        ],
      );
      const [first] = rows;
      assert.ok(first && first.created_at < first.last_used_at);
    });

    it("can be ended one by one, only by their owner", async () => {
      const one = await registerAccount(app);
      const other = await registerAccount(app);
      const phone = await signIn(one.email, "phone");
      const target = (await list(one.session.access_token)).find((row) => !row.is_current);
      assert.ok(target);
      const remove = (id: string, token: string) => app.client.delete(`${path}/${id}`, { token });
      assert.equal((await remove(target.id, other.session.access_token)).status, 404);
      assert.equal((await refresh(phone.body.refresh_token)).status, 200);
      assert.equal((await remove(target.id, one.session.access_token)).status, 204);
      assert.equal((await refresh(phone.body.refresh_token)).code, "auth:refresh_invalid");
      assert.equal((await remove(target.id, one.session.access_token)).status, 404);
      assert.equal((await remove("short", one.session.access_token)).status, 404);
      assert.equal((await list(one.session.access_token)).length, 1);
    });

    it("end all at once, including the caller's, and the cookie is cleared", async () => {
      const { email, session } = await registerAccount(app);
      const phone = await signIn(email, "phone");
      const answer = await app.client.delete(path, { token: session.access_token });
      assert.equal(answer.status, 204);
      assert.match(answer.headers.get("set-cookie") ?? "", /^svc_refresh=; Max-Age=0/);
      for (const token of [session.refresh_token, phone.body.refresh_token])
        assert.equal((await refresh(token)).code, "auth:refresh_invalid");
      assert.equal((await list(session.access_token)).length, 0);
    });

    it("end all at once, including one that is being opened", async () => {
      const { session } = await registerAccount(app);
      const { id } = session.player;
      const now = new Date(clock.now());
      const { opened, ended } = await app.deps.em.transactional(async (em) => {
        assert.ok(await recordLogin(em, id, { now }));
        const sent = app.client.delete(path, { token: session.access_token });
        await untilOneWaits(app.deps.em);
        const player = (await findOpenPlayer(em, id)) ?? assert.fail();
        const clientInfo = { realm: "default", userAgent: null };
        return { opened: openSession(em, app.deps, player, clientInfo), ended: sent };
      });
      assert.equal((await ended).status, 204);
      assert.equal((await refresh(opened.body.refresh_token)).code, "auth:refresh_invalid");
    });

    it("record how they were opened, and when credentials were last shown", async () => {
      const { email, session } = await registerAccount(app);
      const guest = await enter(app);
      const upgraded = await enter(app);
      const account = { email: `${uniqueName()}@example.com`, password };
      const passport = async (token: string) => {
        const answer = await app.client.get("/v1/tokens/passport", { token });
        const query = { ...(answer.body as { passport: string }), redirect: "http://localhost/" };
        const asked = new URLSearchParams({ passport: query.passport, redirect: query.redirect });
        await app.client.get(`/v1/gateway/customs?${asked.toString()}`);
      };
      clock.advance(60_000);
      await post(app, "/v1/gateway/login", { identifier: email, password });
      await post(app, "/v1/gateway/refresh", { refresh_token: session.refresh_token });
      await passport(session.access_token);
      await post(app, "/v1/gateway/guest", { reclaimToken: guest.reclaim_token });
      await passport(guest.access_token);
      await post(app, "/v1/gateway/upgrade", account, tokenOf(upgraded));
      const madeOf = async (player: number) =>
        (await app.deps.orm.em.fork().find(TokenFamilySchema, { player })).map((one) => [
          one.method,
          one.authenticatedAt && clock.now() - one.authenticatedAt.getTime(),
        ]);
      assert.deepEqual((await madeOf(session.player.id)).toSorted(), [
        ["passport", 60_000],
        ["password", 0],
        ["registration", 60_000],
      ]);
      assert.deepEqual((await madeOf(guest.player.id)).toSorted(), [
        ["guest", null],
        ["passport", null],
        ["reclaim", null],
      ]);
      assert.deepEqual((await madeOf(upgraded.player.id)).toSorted(), [
        ["guest", null],
        ["upgrade", null],
      ]);
    });

    it("are not available to guests and anonymous callers", async () => {
      const guest = tokenOf(await enter(app));
      for (const [method, address] of [
        ["GET", path],
        ["DELETE", path],
        ["DELETE", `${path}/${"a".repeat(22)}`],
      ] as const) {
        assert.equal((await app.client.request(method, address, { headers: guest })).status, 403);
        assert.equal((await app.client.request(method, address)).status, 401);
      }
    });

    it("leave the list when their tokens have expired", async () => {
      const { email, session } = await registerAccount(app);
      clock.advance(31 * 86_400_000);
      const again = await signIn(email, "later");
      assert.equal((await refresh(session.refresh_token)).code, "auth:refresh_invalid");
      assert.equal((await list(again.body.access_token)).length, 1);
    });
  });
  describe("a copied access token, after the end of its session,", () => {
    const ended = async (token: string, method: string, asked: string, body: unknown = {}) => {
      const { status, json } = await app.client.request(method, asked, { token, body });
      assert.deepEqual([status, refusalIn(json).code], [401, "auth:token_invalid"], asked);
    };

    it("cannot upgrade a guest to an account", async () => {
      const guest = await enter(app);
      await post(app, "/v1/gateway/logout", {}, cookieOf(guest.refresh_token));
      const attacker = { email: "thief@example.com", password };
      await ended(guest.access_token, "POST", "/v1/gateway/upgrade", attacker);
      const back = await post(app, "/v1/gateway/guest", { reclaimToken: guest.reclaim_token });
      const { body } = await post(app, "/v1/gateway/upgrade", attacker, tokenOf(back.body));
      assert.equal(body.player.id, guest.player.id);
    });

    it("cannot add another sign-in method to an account, but can still read", async () => {
      const { session } = await registerAccount(app);
      const { access_token: token, player } = session;
      const key = { name: "mine" };
      const made = await app.client.post("/v1/realms/default/keys", { token, body: key });
      const { id } = (made.body as { key: { id: number } }).key;
      const phone = "+4915112345678";
      await post(app, "/v1/users/@me/phone", { phone }, tokenOf(session));
      const { code } = (await sentMessage(app.deps, phone, "phone-code")).content;
      await app.client.delete(path, { token });
      await ended(token, "POST", "/v1/realms/default/keys", key);
      await ended(token, "POST", `/v1/realms/default/keys/${id}/roll`);
      await ended(token, "PATCH", `/v1/realms/default/keys/${id}`, { scopes: ["*"] });
      await ended(token, "PATCH", "/v1/users/@me", { email: "thief2@example.com" });
      await ended(token, "POST", "/v1/users/@me/phone/verify", { code });
      await app.deps.em.nativeUpdate(PlayerSchema, { id: player.id }, { passwordHash: null });
      await ended(token, "POST", "/v1/users/@me/password/initial", { password });
      const named = await app.client.patch("/v1/users/@me", {
        token,
        body: { display_name: "Ada" },
      });
      assert.equal(named.status, 200);
      const { user } = named.body as { user: { email: string; display_name: string } };
      assert.deepEqual([user.display_name, user.email], ["Ada", session.player.email]);
    });
  });
});
