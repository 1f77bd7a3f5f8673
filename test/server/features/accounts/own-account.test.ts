import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import {
  dropSentCredentials,
  lockAccount,
  reopenAccount,
} from "../../../../db/queries/accounts/accounts.ts";
import { clearAddress } from "../../../../db/queries/verification/email-verifications.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, password, post, uniqueName } from "../../../support/identity.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { call, count, me, newAccount, result } from "./own-account.ts";

let app: App;
const clock = manualClock();
const account = () => newAccount(app);

describe("the caller's account", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("the routes of the own account", () => {
    const routes: [string, string, unknown][] = [
      ["PATCH", "", { timezone: null }],
      ["DELETE", "", undefined],
      ["POST", "/password", { current_password: "a", new_password: "abcdefg1" }],
      ["POST", "/password/initial", { password: "abcdefg1" }],
      ["PATCH", "/communication", { channels: [] }],
      ["POST", "/phone", { phone: "+4915112345678" }],
      ["POST", "/phone/verify", { code: "123456" }],
      ["DELETE", "/phone", undefined],
      ["POST", "/email/resend-verification", undefined],
      ["POST", "/proof", { password: "a" }],
      ["DELETE", "/connections/somewhere", undefined],
    ];

    it("return 401 to anonymous callers and 403 to guests", async () => {
      const guest = await enter(app);
      for (const [method, path, body] of routes) {
        assert.equal(
          result(await call(app, method, me + path, { body })),
          "401 auth:required",
          path,
        );
        assert.equal(
          result(await call(app, method, me + path, { body, token: "x.y.z" })),
          "401 auth:token_invalid",
        );
        assert.equal(
          result(await call(app, method, me + path, { body, token: guest.access_token })),
          "403 auth:forbidden",
        );
      }
    });

    it("return 404 when the account is deleted", async () => {
      const one = await account();
      const gone = { deletedAt: new Date() };
      await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id: one.id }, gone);
      for (const [method, path, body] of routes) {
        if (path === "/phone/verify") continue;
        assert.equal(result(await one.call(method, path, body)), "404 user:not_found", path);
      }
    });
  });
  describe("PATCH /v1/users/@me", () => {
    it("changes only the supplied fields", async () => {
      const one = await account();
      const before = (await one.call("GET", "")).user;
      const zoned = await one.change({
        timezone: "Asia/Kolkata",
        is_guest: true,
        id: 5,
        roles: [],
      });
      assert.deepEqual(zoned.user, { ...before, timezone: "Asia/Kolkata" });
      const shown = await one.change({ display_name: "  Äda 😀 " });
      assert.deepEqual(shown.user, { ...zoned.user, display_name: "Äda 😀" });
      assert.deepEqual((await one.call("GET", "")).user, shown.user);
      const reset = await one.change({ display_name: null, timezone: null, email: null });
      assert.deepEqual(reset.user, before);
    });

    it("requires at least one field, and names every invalid one", async () => {
      const one = await account();
      for (const body of [{}, undefined, { email: null, username: null }, { phone: "x" }])
        assert.equal(result(await one.change(body)), "400 request:no_fields");
      const cases: [Record<string, unknown>, string[]][] = [
        [{ email: "x", username: "a b", timezone: "+01:00" }, ["email", "timezone", "username"]],
        [{ display_name: "" }, ["display_name"]],
        [{ timezone: "Mars/Base" }, ["timezone"]],
        [{ timezone: "" }, ["timezone"]],
        [{ timezone: "a".repeat(9_000) }, ["timezone"]],
        [{ username: "", timezone: 5 }, ["timezone", "username"]],
      ];
      for (const [body, expected] of cases) {
        const answer = await one.change(body);
        assert.equal(result(answer), "422 validation:failed");
        assert.deepEqual(answer.wrong.toSorted(), expected);
      }
      for (const timezone of ["UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Ushuaia"])
        assert.equal((await one.change({ timezone })).status, 200);
    });

    it("rejects a new invisible or unreadable name, but keeps an existing one", async () => {
      const one = await account();
      for (const display_name of ["\u2800", "\u0301", "a\u202eb", "An\u200bn", "Gr\u0430ce"]) {
        const answer = await one.change({ display_name });
        assert.equal(result(answer), "422 validation:failed", JSON.stringify(display_name));
        assert.deepEqual(answer.wrong, ["display_name"]);
      }
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: one.id }, { displayName: "Gr\u0430ce" });
      const kept = await one.change({ display_name: "Gr\u0430ce", timezone: "Asia/Kolkata" });
      assert.deepEqual([kept.status, kept.user["display_name"]], [200, "Gr\u0430ce"]);
    });

    it("rejects a username that looks like another one, but keeps an older one in any case", async () => {
      const [one, other] = [await account(), await account()];
      const start = uniqueName().slice(0, 12);
      assert.equal((await one.change({ username: `${start}_Ian0` })).status, 200);
      for (const username of [`${start}_lan0`, `${start}_IanO`, `${start}_lANo`])
        assert.equal(result(await other.change({ username })), "409 user:username_taken", username);
      assert.equal((await one.change({ username: `${start}_lanO` })).status, 200, "one's own");
      // As a migration leaves the younger of two existing accounts.
      const sameName = { name: `${start}_Ian0`, nameKey: `${start}_ian0`, nameSkeleton: null };
      await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id: other.id }, sameName);
      assert.equal((await other.change({ username: `${start}_IAN0` })).status, 200);
      const { body } = await app.client.post("/v1/users/check", {
        body: { username: `${start}_lan0` },
      });
      assert.deepEqual(body, { username: { available: false } });
    });

    it("changes the username for sign-in too, and frees the old one", async () => {
      const one = await account();
      const older = one.session.player.username ?? "";
      const username = uniqueName();
      assert.equal((await one.change({ username })).user["username"], username);
      const login = (identifier: string) =>
        post(app, "/v1/gateway/login", { identifier, password });
      assert.equal((await login(username.toUpperCase())).status, 200);
      assert.equal((await login(older)).status, 401);
      const other = await account();
      assert.equal((await other.change({ username: older })).status, 200);
      assert.equal((await one.change({ username: username.toUpperCase() })).status, 200);
    });

    it("lets exactly one of many concurrent callers get a name or an address", async () => {
      const all = await Promise.all(Array.from({ length: 8 }, account));
      const username = uniqueName();
      const names = await Promise.all(all.map((one) => one.change({ username })));
      assert.deepEqual(count(names.map(result)), { "200": 1, "409 user:username_taken": 7 });
      const email = `${uniqueName()}@example.com`;
      const mails = await Promise.all(
        all.map((one, i) => one.change({ email: i % 2 ? email : email.toUpperCase() })),
      );
      assert.deepEqual(count(mails.map(result)), { "200": 1, "409 user:email_taken": 7 });
    });

    it("marks a new address unverified and writes to both, except for another spelling of the same address", async () => {
      const one = await account();
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: one.id }, { emailVerifiedAt: new Date() });
      const respelled = await one.change({ email: one.email.toUpperCase() });
      assert.equal(respelled.user["email"], one.email);
      assert.notEqual(respelled.user["email_verified_at"], null);
      const email = `${uniqueName()}@example.com`;
      const changed = await one.change({ email });
      assert.equal(changed.user["email_verified_at"], null);
      const templates = async (to: string) =>
        (await messagesTo(app.deps, to)).map(({ template }) => template);
      assert.deepEqual(await templates(email), ["verify-email"]);
      assert.deepEqual(await templates(one.email), ["verify-email", "address-replaced"]);
      const next = `${uniqueName()}@example.com`;
      await one.change({ email: next });
      assert.deepEqual(await templates(email), ["verify-email", "email-changed"]);
    });
  });
  describe("a link that resets the password", () => {
    it("is rejected after the account changes its address or is closed and reopened", async () => {
      const changes: ((one: Awaited<ReturnType<typeof account>>) => Promise<unknown>)[] = [
        (one) => one.change({ email: `${uniqueName()}@example.com` }),
        async (one) => {
          await one.call("DELETE", "");
          assert.ok(await reopenAccount(app.deps.em, one.id));
        },
      ];
      for (const change of changes) {
        const one = await account();
        await post(app, "/v1/gateway/reset-password/request", { email: one.email });
        const { content } = await sentMessage(app.deps, one.email, "reset-password");
        const token = new URL(content.links[0] ?? "").searchParams.get("token");
        await change(one);
        const answer = await post(app, "/v1/gateway/reset-password", {
          token,
          password: "abcdefg1",
        });
        assert.deepEqual([answer.status, answer.code], [401, "auth:token_invalid"]);
      }
    });
  });
  describe("a code or link sent to an address", () => {
    it("waits for a pending change of the account, and is rejected after it", async () => {
      const { em } = app.deps;
      const gateway = "/v1/gateway";
      const tokenIn = ({ links }: { links: string[] }) =>
        new URL(links[0] ?? "").searchParams.get("token");
      const asked = async (email: string) => {
        await post(app, `${gateway}/code/request`, { email });
        const { content } = await sentMessage(app.deps, email, "sign-in-code");
        return () => post(app, `${gateway}/code/verify`, { email, code: content.code });
      };
      const registered = async (email: string) => {
        const { content } = await sentMessage(app.deps, email, "verify-email");
        return () => post(app, "/v1/users/email/verify", { token: tokenIn(content) });
      };
      const forgotten = async (email: string) => {
        await post(app, `${gateway}/reset-password/request`, { email });
        const { content } = await sentMessage(app.deps, email, "reset-password");
        const body = { token: tokenIn(content), password: "abcdefg1" };
        return () => post(app, `${gateway}/reset-password`, body);
      };
      for (const prepare of [asked, registered, forgotten]) {
        const { id: playerId, email } = await account();
        const use = await prepare(email);
        const { answer } = await em.transactional(async (inner) => {
          await lockAccount(inner, playerId);
          const sent = use();
          await untilOneWaits(em);
          await dropSentCredentials(inner, playerId);
          await clearAddress(inner, playerId, { emailKey: email, isProven: false });
          return { answer: sent };
        });
        assert.equal((await answer).status, 401);
      }
    });

    it("is not sent to that address again while the account is changing it", async () => {
      const one = await account();
      const { em } = app.deps;
      const email = `${uniqueName()}@example.com`;
      const { again } = await em.transactional(async (inner) => {
        const row = await lockAccount(inner, one.id);
        const token = one.session.access_token;
        const sent = app.client.post(`${me}/email/resend-verification`, { token });
        await untilOneWaits(em);
        Object.assign(row ?? assert.fail(), { email, emailKey: email });
        return { again: sent };
      });
      assert.equal((await again).status, 204);
      assert.equal((await messagesTo(app.deps, email)).length, 1);
      assert.equal((await messagesTo(app.deps, one.email)).length, 1);
    });
  });
  describe("PATCH /v1/users/@me/communication", () => {
    it("replaces all opt-ins and drops repetitions", async () => {
      const one = await account();
      const channels = ["push:news", "email:account", "push:news", "sms:a_1"];
      assert.equal((await one.call("PATCH", "/communication", { channels })).status, 200);
      const { user } = await one.call("GET", "");
      assert.deepEqual(user["channels"], ["push:news", "email:account", "sms:a_1"]);
      await one.call("PATCH", "/communication", { channels: [] });
      assert.deepEqual((await one.call("GET", "")).user["channels"], []);
    });

    it("rejects a value that is not a list of channels", async () => {
      const one = await account();
      const many = Array.from({ length: 33 }, (_, i) => `email:t${i}`);
      for (const channels of [
        undefined,
        null,
        "email:account",
        ["fax:x"],
        ["email:"],
        ["email:A"],
        many,
      ])
        assert.equal(
          result(await one.call("PATCH", "/communication", { channels })),
          "422 validation:failed",
        );
      assert.deepEqual(
        (await one.call("PATCH", "/communication", { channels: ["email:a", "x"] })).wrong,
        ["channels[1]"],
      );
    });
  });
});
