import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { RealmBrandingSchema } from "../../../../db/entities/realm-branding.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  cookieOf,
  password,
  post,
  registerAccount,
  tally,
  tokenOf,
  uniqueName,
} from "../../../support/identity.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";

const requestPath = "/v1/gateway/reset-password/request";
const resetPath = "/v1/gateway/reset-password";
const newPassword = "another horse 2";
const long = "x".repeat(5_000);
let app: App;
let now = Date.now();

const login = (identifier: string, given: string) =>
  post(app, "/v1/gateway/login", { identifier, password: given });

const reset = (token: unknown, given: unknown = newPassword) =>
  post(app, resetPath, { token, password: given });

const linksTo = async (email: string) =>
  (await messagesTo(app.deps, email)).filter(({ template }) => template === "reset-password");

async function linkFor(email: string, headers: Record<string, string> = {}): Promise<URL> {
  const sentBefore = (await linksTo(email)).length;
  const answer = await post(app, requestPath, { email }, headers);
  assert.deepEqual([answer.status, answer.body], [200, undefined]);
  const { content } = await sentMessage(app.deps, email, "reset-password", sentBefore);
  return new URL(content.links[0] ?? "");
}

const tokenFor = async (email: string) => (await linkFor(email)).searchParams.get("token") ?? "";

describe("password resets", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now } });
  });
  after(() => app.stop());

  describe("a password reset", () => {
    it("sets the password, ends every session and the lock, and notifies the owner", async () => {
      const { email, session } = await registerAccount(app);
      for (let i = 0; i < 5; i++) await login(email, "no");
      assert.equal((await login(email, password)).code, "auth:locked");
      const answer = await reset(await tokenFor(email));
      assert.deepEqual([answer.status, answer.body], [200, undefined]);
      assert.equal((await login(email, newPassword)).status, 200);
      assert.equal((await login(email, password)).code, "auth:invalid");
      const refreshed = await post(app, "/v1/gateway/refresh", {}, cookieOf(session.refresh_token));
      assert.equal(refreshed.code, "auth:refresh_invalid");
      await sentMessage(app.deps, email, "password-changed");
    });

    it("accepts a token that a mail program broke over two lines", async () => {
      const { email } = await registerAccount(app);
      const token = await tokenFor(email);
      assert.equal((await reset(` ${token.slice(0, 60)}\r\n${token.slice(60)}\u200b`)).status, 200);
    });

    it("works once, even for fifty concurrent uses", async () => {
      const { email } = await registerAccount(app);
      const token = await tokenFor(email);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => reset(token, `password no ${i}`)),
      );
      assert.deepEqual(tally(answers), { "200": 1, "401 auth:token_invalid": 49 });
      const winner = answers.findIndex(({ status }) => status === 200);
      assert.equal((await login(email, `password no ${winner}`)).status, 200);
    });

    it("refuses replaced, expired, malformed and missing tokens, and those of another kind", async () => {
      const { email, session } = await registerAccount(app);
      const first = await tokenFor(email);
      const second = await tokenFor(email);
      for (const token of [first, session.access_token, session.refresh_token, "x", "a.b.c", long])
        assert.equal((await reset(token)).code, "auth:token_invalid");
      now += 3_600_000;
      assert.equal((await reset(second)).code, "auth:token_invalid");
      assert.equal((await login(email, password)).status, 200);
    });

    it("is rejected once the password has changed in another way", async () => {
      const { email, session } = await registerAccount(app);
      const token = await tokenFor(email);
      const passwordHash = await app.deps.passwords.hash("a third horse 3");
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: session.player.id }, { passwordHash });
      assert.equal((await reset(token)).code, "auth:token_invalid");
      assert.equal((await login(email, "a third horse 3")).status, 200);
    });

    it("is rejected once the account has another address", async () => {
      const { email, session } = await registerAccount(app);
      const token = await tokenFor(email);
      const emailKey = `${uniqueName()}@example.com`;
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: session.player.id }, { email: emailKey, emailKey });
      assert.equal((await reset(token)).code, "auth:token_invalid");
    });

    it("names missing and short fields", async () => {
      const cases: [unknown, unknown, string[]][] = [
        ["x", "seven77", ["password"]],
        [undefined, newPassword, ["token"]],
        [7, "a".repeat(129), ["password", "token"]],
      ];
      for (const [token, given, fields] of cases) {
        const answer = await reset(token, given);
        assert.deepEqual([answer.status, answer.code], [422, "validation:failed"]);
        const found = answer.json.flash?.violations?.map(({ propertyPath }) => propertyPath);
        assert.deepEqual(found?.toSorted(), fields);
      }
    });

    it("ends a login that was checked before it", async () => {
      const { email } = await registerAccount(app);
      const token = await tokenFor(email);
      const [changed, ...logins] = await Promise.all([
        reset(token),
        ...Array.from({ length: 8 }, () => login(email, password)),
      ]);
      assert.equal(changed?.status, 200);
      for (const { status, body } of logins) {
        if (status !== 200) continue;
        const refreshed = await post(app, "/v1/gateway/refresh", {
          refresh_token: body.refresh_token,
        });
        assert.equal(refreshed.code, "auth:refresh_invalid");
      }
      assert.equal((await login(email, newPassword)).status, 200);
    });
  });
  describe("requesting a password reset", () => {
    it("returns the same for known, unknown and impossible addresses, and requires one", async () => {
      const { email } = await registerAccount(app);
      const answers = [];
      for (const given of [email, `${uniqueName()}@example.com`, "no address", long])
        answers.push(await post(app, requestPath, { email: given }));
      assert.deepEqual(tally(answers), { "200": 4 });
      for (const body of [{}, { email: null }, { email: " " }, { email: 1 }])
        assert.equal((await post(app, requestPath, body)).code, "request:missing_field");
      await sentMessage(app.deps, email, "reset-password");
    });

    it("links to the pages of the realm, regardless of forwarded host headers", async () => {
      const { email, session } = await registerAccount(app);
      const own = await linkFor(email, { "x-forwarded-host": "evil.example" });
      assert.equal(own.origin + own.pathname, "http://127.0.0.1:8080/reset-password");
      const em = app.deps.orm.em.fork();
      const realm = em.create(RealmSchema, { slug: "arena", name: "Arena" });
      em.create(RealmBrandingSchema, { realm, frontendUrl: "https://arena.example/play/" });
      await em.flush();
      const there = await linkFor(email, { "x-realm": "arena", ...tokenOf(session) });
      assert.equal(there.origin + there.pathname, "https://arena.example/play/reset-password");
    });
  });
});
