import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { password, post, registerAccount, tally, tokenOf } from "../../../support/identity.ts";
import { messagesTo } from "../../../support/messages.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";

const me = "/v1/users/@me";
const dayMs = 86_400_000;
const clock = manualClock();
let app: App;

const result = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;

async function account() {
  const { email, session } = await registerAccount(app);
  const as = tokenOf(session);
  const identifier = session.player.username ?? "";
  return {
    email,
    session,
    id: session.player.id,
    change: (current_password: unknown, new_password: unknown) =>
      post(app, `${me}/password`, { current_password, new_password }, as),
    initial: (wanted: unknown) => post(app, `${me}/password/initial`, { password: wanted }, as),
    login: (text = password) => post(app, "/v1/gateway/login", { identifier, password: text }),
    close: () => app.client.delete(me, { token: session.access_token }),
  };
}

const refresh = (session: { refresh_token: string }) =>
  post(app, "/v1/gateway/refresh", { refresh_token: session.refresh_token });

const isOpen = async (session: { refresh_token: string }) =>
  (await refresh(session)).status === 200;

describe("passwords of an account", () => {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
  });
  after(() => app.stop());

  describe("POST /v1/users/@me/password", () => {
    it("changes the password, ends the other sessions and notifies the owner", async () => {
      const one = await account();
      const other = (await one.login()).body;
      assert.equal((await one.change(password, "Neues-Wört 2")).status, 200);
      assert.equal(await isOpen(one.session), true);
      assert.equal(await isOpen(other), false);
      assert.equal((await one.login()).status, 401);
      assert.equal((await one.login("Neues-Wört 2")).status, 200);
      const mails = (await messagesTo(app.deps, one.email)).map(({ template }) => template);
      assert.deepEqual(mails, ["verify-email", "password-changed"]);
    });

    it("distinguishes missing fields, weak passwords and a wrong password", async () => {
      const one = await account();
      for (const [current, wanted] of [
        [undefined, "abcdefg1"],
        [password, undefined],
        [5, "abcdefg1"],
        ["", "abcdefg1"],
      ])
        assert.equal(result(await one.change(current, wanted)), "400 request:missing_field");
      const tooLong = `a1${"x".repeat(127)}`;
      for (const weak of [
        "short1",
        "abcdefgh",
        "12345678",
        password,
        tooLong,
        `${tooLong}${"x".repeat(5_000)}`,
      ])
        assert.equal(result(await one.change(password, weak)), "400 user:password_weak");
      assert.equal(
        result(await one.change("wrong one 1", "abcdefg1")),
        "401 user:password_incorrect",
      );
      assert.equal(
        result(await one.change("x".repeat(5_000), "abcdefg1")),
        "401 user:password_incorrect",
      );
      assert.equal((await one.login()).status, 200);
    });

    it("locks after five wrong passwords, and returns the true waiting time", async () => {
      const one = await account();
      const tries = await Promise.all(
        Array.from({ length: 9 }, () => one.change("wrong one 1", "abcdefg1")),
      );
      assert.equal(tally(tries)["401 user:password_incorrect"], 5);
      const locked = await one.change(password, "abcdefg1");
      assert.equal(result(locked), "423 auth:locked");
      const wait = Number(locked.headers.get("retry-after"));
      assert.ok(wait > 850 && wait <= 900);
      assert.deepEqual(locked.json.flash?.errors?.[0]?.params, { retry_after: wait });
      assert.equal(result(await one.login()), "423 auth:locked");
    });

    it("is not locked by failed sign-ins of others", async () => {
      const one = await account();
      const login = (given: string) =>
        post(app, "/v1/gateway/login", { identifier: one.email, password: given });
      for (let i = 0; i < 5; i++) await login("wrong one 1");
      assert.equal((await login(password)).code, "auth:locked");
      assert.equal(
        result(await one.change("wrong one 1", "abcdefg1")),
        "401 user:password_incorrect",
      );
      assert.equal((await one.change(password, "abcdefg1")).status, 200);
    });

    it("accepts one of several concurrent changes", async () => {
      const one = await account();
      const answers = await Promise.all(
        [1, 2, 3, 4].map((n) => one.change(password, `abcdefg${n}`)),
      );
      assert.deepEqual(tally(answers), { "200": 1, "401 user:password_incorrect": 3 });
    });

    it("refuses an account without a password, which can set its first one once", async () => {
      const one = await account();
      assert.equal(result(await one.initial("abcdefg1")), "409 user:password_exists");
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: one.id }, { passwordHash: null });
      assert.equal(result(await one.change(password, "abcdefg1")), "401 user:password_incorrect");
      for (const weak of [
        undefined,
        null,
        "short1",
        "abcdefgh",
        "12345678",
        `a1${"x".repeat(127)}`,
      ]) {
        const answer = await one.initial(weak);
        assert.equal(result(answer), "422 validation:failed");
        assert.deepEqual(
          answer.json.flash?.violations?.map((it) => it.propertyPath),
          ["password"],
        );
      }
      const answers = await Promise.all([1, 2, 3].map((n) => one.initial(`abcdefg${n}`)));
      assert.deepEqual(tally(answers), { "200": 1, "409 user:password_exists": 2 });
      assert.equal(await isOpen(one.session), false);
    });
  });
  describe("DELETE /v1/users/@me", () => {
    const row = async (id: number) => {
      const rows = await rowsOf(
        app.deps.em,
        sql<Record<string, unknown>>`select name, username, display_name, email, email_key, phone,
        password_hash, channels, purged_at is not null as purged from players where id = ${id}`,
      );
      return rows[0] ?? {};
    };
    const countOf = async (table: string, column: string, value: unknown) => {
      const rows = await rowsOf(
        app.deps.em,
        sql<{
          n: number;
        }>`select count(*)::int as n from ${sql.table(table)} where ${sql.ref(column)} = ${value}`,
      );
      return rows[0]?.n;
    };

    it("closes the account once: sessions, mail and sign-in end, and its names stay taken", async () => {
      const one = await account();
      await post(app, "/v1/subscribe", { email: one.email });
      const answers = await Promise.all([one.close(), one.close(), one.close()]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 404, 404]);
      assert.equal(await isOpen(one.session), false);
      assert.equal(result(await one.login()), "401 auth:invalid");
      assert.equal((await app.client.get(me, { token: one.session.access_token })).status, 404);
      assert.equal(await countOf("subscribers", "email_key", one.email), 0);
      assert.equal(await countOf("email_verifications", "player_id", one.id), 0);
      assert.deepEqual((await row(one.id))["channels"], []);
      const username = one.session.player.username;
      const again = await post(app, "/v1/users", { email: one.email, username, password });
      assert.equal(again.status, 409);
      const { body } = await post(app, "/v1/users/check", { email: one.email, username });
      assert.deepEqual(body, { email: { available: false }, username: { available: false } });
    });

    it("ends a confirmed subscription of its address only if the account proved it owns the address", async () => {
      for (const isProven of [false, true]) {
        const one = await account();
        await post(app, "/v1/subscribe", { email: one.email });
        await rowsOf(
          app.deps.em,
          sql`update subscribers set verified_at = now() where email_key = ${one.email}`,
        );
        if (isProven)
          await rowsOf(
            app.deps.em,
            sql`update players set email_verified_at = now() where id = ${one.id}`,
          );
        await one.close();
        assert.equal(await countOf("subscribers", "email_key", one.email), isProven ? 0 : 1);
      }
    });

    it("deletes all personal data after thirty days, not earlier", async () => {
      const one = await account();
      const kept = await account();
      const named = await post(app, "/v1/users", {
        email: `deleted-${one.id}@example.com`,
        username: `deleted_${one.id}`,
        password,
      });
      await one.close();
      clock.advance(30 * dayMs - 60_000);
      await maintain({ task: "accounts" }, app.deps);
      assert.equal((await row(one.id))["email"], one.email);
      clock.advance(120_000);
      await Promise.all([
        maintain({ task: "accounts" }, app.deps),
        maintain({ task: "accounts" }, app.deps),
      ]);
      const name = `deleted_${one.id}`;
      assert.deepEqual(await row(one.id), {
        name,
        username: name,
        display_name: name,
        email: null,
        email_key: null,
        phone: null,
        password_hash: null,
        channels: [],
        purged: true,
      });
      assert.equal(await countOf("token_families", "player_id", one.id), 0);
      assert.equal((await row(kept.id))["email"], kept.email);
      assert.equal(named.status, 201);
      const { email, session } = one;
      const again = { email, username: session.player.username, password };
      const answer = await post(app, "/v1/users", again);
      assert.equal(answer.status, 201);
      assert.notEqual(answer.body.player.id, one.id);
    });
  });
});
