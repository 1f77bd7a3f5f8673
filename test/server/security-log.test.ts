import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { createLogger } from "../../server/platform/log/logger.ts";
import { startApp, type App } from "../support/app.ts";
import {
  cookieOf,
  password,
  post,
  registerAccount,
  tokenOf,
  uniqueName,
} from "../support/identity.ts";
import { sentMessage } from "../support/messages.ts";
import { visitProvider } from "../support/oidc-provider.ts";
import { plainSecrets, startPlainProvider, type PlainProvider } from "../support/plain-provider.ts";
import { begin, callbackOf, openCallback } from "./features/social/visitor.ts";

const me = "/v1/users/@me";
const written: string[] = [];
let app: App;
let provider: PlainProvider;

/** Lines written since `start`, each a single object. */
const linesSince = (start: number) =>
  written
    .slice(start)
    .join("")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const eventsSince = (start: number) =>
  linesSince(start)
    .filter(({ msg }) => msg === "security event")
    .map(({ event, player, key }) => ({ event, player, ...(key === undefined ? {} : { key }) }));

/** Request lines are batched for a moment. */
async function requestIsLogged(route: string, start: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!written.slice(start).some((text) => text.includes(`"route":"${route}"`))) {
    assert.ok(performance.now() < deadline, route);
    await new Promise((done) => setTimeout(done, 5));
  }
}

const linkOf = async (to: string, template: string) => {
  const { content } = await sentMessage(app.deps, to, template);
  return new URL(content.links[0] ?? "").searchParams.get("token") ?? "";
};

describe("the log", () => {
  before(async () => {
    provider = await startPlainProvider();
    const log = createLogger(parseConfig({ LOG_LEVEL: "info" }), "http", {
      write: (text) => written.push(text),
    });
    app = await startApp({
      log,
      env: {
        OAUTH_OCTO_CLIENT_ID: "octo-client",
        OAUTH_OCTO_SECRET: "secret-of-the-client",
        OAUTH_OCTO_AUTHORIZE_URL: `${provider.url}/authorize`,
        OAUTH_OCTO_TOKEN_URL: `${provider.url}/token`,
        OAUTH_OCTO_USERINFO_URL: `${provider.url}/user`,
      },
    });
  });
  after(async () => {
    await app.stop();
    await provider.stop();
  });

  describe("of accounts", () => {
    it("has a line for every security event of an account, with ids and without secrets", async () => {
      const start = written.length;
      const { email, session } = await registerAccount(app);
      const player = session.player.id;
      const as = tokenOf(session);
      const wrong = "a wrong guess 7";
      const changed = "changed by me 8";
      const login = (identifier: string, text: string) =>
        post(app, "/v1/gateway/login", { identifier, password: text });
      const unknown = `${uniqueName()}@example.com`;
      for (let n = 0; n < 6; n += 1) await login(email, wrong);
      for (let n = 0; n < 5; n += 1) await login(unknown, wrong);
      await post(app, "/v1/gateway/code/request", { email });
      const code = (await sentMessage(app.deps, email, "sign-in-code")).content.code ?? "";
      // In the session that set the password, which therefore survives.
      await post(app, "/v1/gateway/code/verify", { email, code }, as);
      await post(app, `${me}/password`, { current_password: password, new_password: changed }, as);
      await post(app, "/v1/gateway/reset-password/request", { email });
      const reset = await linkOf(email, "reset-password");
      await post(app, "/v1/gateway/reset-password", { token: reset, password: "reset by me 99" });
      const verification = await linkOf(email, "verify-email");
      await post(app, "/v1/users/email/verify", { token: verification });

      // The reset has ended the session, and a key requires one.
      const again = (await login(email, "reset by me 99")).body;
      const keys = "/v1/realms/default/keys";
      const made = await app.client.post(keys, {
        token: again.access_token,
        body: { name: "secret name", scopes: ["profile:read"] },
      });
      const { key, plaintext } = made.body as { key: { id: number }; plaintext: string };
      await app.client.get(me, { headers: { "x-api-key": plaintext } });
      const rolled = await post(app, `${keys}/${key.id}/roll`, undefined, tokenOf(again));
      const second = (rolled.body as unknown as { plaintext: string }).plaintext;
      await app.client.delete(`${keys}/${key.id}`, { headers: tokenOf(again) });
      const phone = `+49151${String(player).padStart(8, "0")}`;
      await post(app, `${me}/phone`, { phone }, tokenOf(again));
      const phoneCode = (await sentMessage(app.deps, phone, "phone-code")).content.code ?? "";
      await post(app, `${me}/phone/verify`, { code: phoneCode }, tokenOf(again));
      await post(app, "/v1/gateway/refresh", undefined, cookieOf(session.refresh_token));
      await app.client.get(`/v1/gateway/customs?passport=${session.access_token}`);
      await app.client.delete(me, { headers: tokenOf(again) });
      await requestIsLogged("/v1/gateway/customs", start);

      assert.deepEqual(eventsSince(start), [
        { event: "login_locked", player },
        { event: "login_locked", player: null },
        { event: "address_proven", player },
        { event: "password_changed", player },
        { event: "password_reset", player },
        { event: "key_created", player, key: key.id },
        { event: "key_rolled", player, key: key.id },
        { event: "key_revoked", player, key: key.id },
        { event: "account_closed", player },
      ]);
      const text = linesSince(start)
        .map((line) => JSON.stringify({ ...line, time: 0, id: "" }))
        .join("\n");
      const secrets = { email, unknown, password, wrong, changed, reset, verification, phone };
      const more = {
        plaintext,
        second,
        access: session.access_token,
        refresh: session.refresh_token,
        access2: again.access_token,
        refresh2: again.refresh_token,
      };
      for (const [name, secret] of Object.entries({ ...secrets, ...more })) {
        assert.ok(secret.length > 5, name);
        assert.ok(!text.includes(secret), name);
      }
      for (const each of [code, phoneCode]) assert.ok(!new RegExp(`\\b${each}\\b`).test(text));
      assert.ok(!/@(?!me)/.test(text));
      assert.ok(!text.includes("reset by me"));
    });
  });
  describe("of secrets", () => {
    it("contains no credentials for other services: passports and social login data", async () => {
      const start = written.length;
      const { email, session } = await registerAccount(app);
      const token = session.access_token;
      const { body } = await app.client.get("/v1/tokens/passport", { token });
      const { passport } = body as { passport: string };
      const query = new URLSearchParams({ redirect: "http://localhost:5173/in", passport });
      const customs = `/v1/gateway/customs?${query.toString()}`;
      const seen: Record<string, string> = { email, passport, ...plainSecrets };
      for (const [status, method] of [
        [302, "HEAD"],
        [302, "GET"],
        [401, "GET"],
      ] as const) {
        const answer = await app.client.request(method, customs);
        assert.equal(answer.status, status);
        const cookie = answer.headers.get("set-cookie") ?? "";
        if (cookie !== "") seen["refresh"] = /=([^;]+)/.exec(cookie)?.[1] ?? "";
      }

      const profile = { id: 1, login: "octocat", email: `${uniqueName()}@example.com` };
      seen["social"] = profile.email;
      const says: [text: PlainProvider["texts"], error: string | null][] = [
        [{}, null],
        [{ user: profile.email }, "server:unavailable"],
        [{ token: `access_token=${plainSecrets.token}` }, "server:unavailable"],
        [{ token: plainSecrets.token }, "server:unavailable"],
      ];
      provider.user = { status: 200, body: profile };
      for (const [texts, error] of says) {
        provider.texts = texts;
        const startedLogin = await begin(app, { provider: "octo" });
        const back = await visitProvider(startedLogin.url, callbackOf("octo"));
        const returned = await openCallback(app, back, startedLogin.cookie);
        assert.equal(returned.error, error);
        const { state, cookie } = startedLogin;
        Object.assign(seen, { [`state ${error}`]: state, [`cookie ${error}`]: cookie.slice(10) });
        if (returned.refreshToken !== null) seen["social refresh"] = returned.refreshToken;
      }
      const native = await begin(app, { provider: "octo" });
      const given = { code: plainSecrets.code, state: native.state };
      const refused = await post(app, "/v1/gateway/oauth/octo/callback", given, {
        cookie: native.cookie,
      });
      assert.equal(refused.code, "server:unavailable");
      provider.texts = {};
      const denied = await openCallback(
        app,
        new URL(`${callbackOf("octo")}?state=x&code=y`),
        "svc_oauth=z",
      );
      assert.equal(denied.status, 400);
      await requestIsLogged("/v1/gateway/oauth/{provider}/callback", start);

      const text = JSON.stringify(linesSince(start));
      assert.match(text, /social login failed/);
      for (const [name, secret] of Object.entries({ ...seen, client: "secret-of-the-client" })) {
        assert.ok(secret.length > 5, name);
        // Responses often repeat parts of the request.
        assert.ok(!text.includes(secret.slice(0, 10)), name);
      }
    });

    it("omits the values of a failed database statement", async () => {
      const start = written.length;
      const username = uniqueName();
      const email = `${username}@example.com`;
      await rowsOf(
        app.deps.em,
        sql`alter table players add constraint never check (username <> ${sql.lit(username)})`,
      );
      const answer = await post(app, "/v1/users", { email, username, password });
      assert.equal(answer.status, 500);
      const failure = linesSince(start).find(({ msg }) => msg === "request failed");
      const text = JSON.stringify(failure);
      assert.match(text, /violates check constraint/);
      for (const secret of [email, username, "argon2", "Failing row"])
        assert.ok(!text.includes(secret), text);
    });
  });
});
