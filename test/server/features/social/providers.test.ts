import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createLogger } from "../../../../server/platform/log/logger.ts";
import {
  ConfigError,
  configToEnv,
  parseConfig,
} from "../../../../server/platform/config/config.ts";
import { startApp, type App } from "../../../support/app.ts";
import { startPlainProvider, type PlainProvider } from "../../../support/plain-provider.ts";
import { post } from "../../../support/identity.ts";
import { startTestProvider, type TestProvider } from "../../../support/oidc-provider.ts";
import {
  begin,
  callbackOf,
  openCallback,
  signInWithProvider,
  addProviderUser,
  sessionOf,
} from "./visitor.ts";

describe("a provider", () => {
  let provider: PlainProvider;
  let strict: TestProvider;
  let app: App;
  const written: string[] = [];
  before(async () => {
    provider = await startPlainProvider();
    const callbacks = [callbackOf("strict"), callbackOf("typo")];
    strict = await startTestProvider(callbacks, "client_secret_basic");
    app = await startApp({
      hasJobs: false,
      log: createLogger(parseConfig({ LOG_LEVEL: "warn" }), "http", {
        write: (text) => written.push(text),
      }),
      env: {
        OAUTH_OCTO_CLIENT_ID: "octo-client",
        OAUTH_OCTO_AUTHORIZE_URL: `${provider.url}/authorize`,
        OAUTH_OCTO_TOKEN_URL: `${provider.url}/token`,
        OAUTH_OCTO_USERINFO_URL: `${provider.url}/user`,
        OAUTH_AWAY_CLIENT_ID: "away-client",
        OAUTH_AWAY_ISSUER: "http://127.0.0.1:1",
        OAUTH_STRICT_CLIENT_ID: strict.clientId,
        OAUTH_STRICT_SECRET: strict.clientSecret,
        OAUTH_STRICT_ISSUER: strict.issuer,
        OAUTH_TYPO_CLIENT_ID: strict.clientId,
        OAUTH_TYPO_SECRET: `${strict.clientSecret}x`,
        OAUTH_TYPO_ISSUER: strict.issuer,
      },
    });
  });
  after(async () => {
    await app.stop();
    await provider.stop();
    await strict.stop();
  });
  const answer = (body: unknown, status = 200) => (provider.user = { status, body });
  const through = () => signInWithProvider(app, { provider: "octo" });

  it("without OpenID identifies the user by the number that it returns", async () => {
    answer({ id: 583231, login: "octocat", avatar_url: "https://cdn.octo.example/u/583231" });
    const first = await sessionOf(app, await through());
    assert.match(first.player.username ?? "", /^octocat_\d{6}$/);
    answer({ id: "583231", login: "renamed" });
    assert.equal((await sessionOf(app, await through())).player.id, first.player.id);
    answer({ id: 583232, login: "octocat", avatar_url: "javascript:alert(1)" });
    const other = await sessionOf(app, await through());
    assert.notEqual(other.player.id, first.player.id);
    const token = other.access_token;
    const list = await app.client.get("/v1/users/@me/connections", { token });
    assert.ok(list.text.includes('"avatar_url":null'));
  });

  it("with any malformed response causes at most a refusal", async () => {
    const bodies: unknown[] = [
      {},
      { id: null },
      { sub: "" },
      { sub: "x".repeat(300) },
      { sub: "a\u0000b" },
      { sub: { a: 1 } },
      [],
      null,
      7,
      "text",
    ];
    for (const body of bodies) {
      answer(body);
      assert.equal((await through()).error, "oauth:provider_denied", JSON.stringify(body));
    }
    answer({ message: "who are you" }, 401);
    assert.equal((await through()).error, "oauth:provider_denied");
    answer({ message: "broken" }, 500);
    assert.equal((await through()).error, "server:unavailable");
    answer({ id: 1, padding: "x".repeat(300_000) });
    assert.equal((await through()).error, "server:unavailable");
    answer({ id: 99, name: "\u202eevil\u0000", email: "no address", email_verified: true });
    const odd = await sessionOf(app, await through());
    assert.deepEqual([odd.player.email, odd.player.email_verified_at], [null, null]);
    assert.match(odd.player.username ?? "", /^octo_\d{6}$/);
  });

  it("that accepts the secret only in the header receives it there", async () => {
    addProviderUser(strict, { name: "Ada" });
    const returned = await signInWithProvider(app, { provider: "strict" });
    assert.equal(returned.error, null);
    assert.equal((await sessionOf(app, returned)).player.display_name, "Ada");
  });

  it("that refuses is quoted in the log, so that an operator sees the misconfiguration", async () => {
    addProviderUser(strict, { name: "Ada" });
    const wrongSecret = await signInWithProvider(app, { provider: "typo" });
    const startedLogin = await begin(app, { provider: "strict" });
    const back = new URL(callbackOf("strict"));
    const query = { state: startedLogin.state, code: "nonsense", iss: strict.issuer };
    back.search = new URLSearchParams(query).toString();
    const wrongCode = await openCallback(app, back, startedLogin.cookie);
    const denied = "oauth:provider_denied";
    assert.deepEqual([wrongSecret.error, wrongCode.error], [denied, denied]);
    assert.match(written.join(""), /"typo","reason":"the provider answered invalid_client"/);
    assert.match(written.join(""), /"strict","reason":"the provider answered invalid_grant"/);
  });

  it("that is unreachable is reported as unreachable", async () => {
    const path = "/v1/gateway/oauth/away/url";
    const away = await app.client.get(path);
    assert.equal(away.status, 503);
    assert.ok(Number(away.headers.get("retry-after")) > 0);
  });

  it("refuses a state that belongs to another provider", async () => {
    const startedLogin = await begin(app, { provider: "octo" });
    const body = { code: "c", state: startedLogin.state };
    const elsewhere = await post(app, "/v1/gateway/oauth/away/callback", body);
    assert.equal(elsewhere.code, "oauth:state_invalid");
    const unknown = await post(app, "/v1/gateway/oauth/nobody/callback", body);
    assert.equal(unknown.code, "oauth:provider_unknown");
  });
});

describe("the settings of social logins", () => {
  const complete = {
    OAUTH_ACME_CLIENT_ID: "id",
    OAUTH_ACME_SECRET: "secret",
    OAUTH_ACME_ISSUER: "https://acme.example",
  };

  it("create one provider per name, in order", () => {
    const { oauthProviders } = parseConfig({
      ...complete,
      OAUTH_B_2_CLIENT_ID: "id",
      OAUTH_B_2_AUTHORIZE_URL: "https://b.example/authorize",
      OAUTH_B_2_TOKEN_URL: "https://b.example/token",
      OAUTH_B_2_USERINFO_URL: "https://b.example/user",
      OAUTH_B_2_SCOPES: "read:user",
    });
    assert.deepEqual(
      oauthProviders.map(({ id, name, scopes }) => [id, name, scopes]),
      [
        ["acme", "Acme", "openid email profile"],
        ["b_2", "B_2", "read:user"],
      ],
    );
    assert.ok(!JSON.stringify(configToEnv(parseConfig(complete))).includes("acme"));
  });

  it("of three addresses may name an issuer, which changes nothing else", () => {
    const addresses = {
      OAUTH_OCTO_CLIENT_ID: "id",
      OAUTH_OCTO_AUTHORIZE_URL: "https://octo.example/login/oauth/authorize",
      OAUTH_OCTO_TOKEN_URL: "https://octo.example/login/oauth/access_token",
      OAUTH_OCTO_USERINFO_URL: "https://api.octo.example/user",
    };
    const issuer = "https://octo.example/login/oauth";
    const [unnamed] = parseConfig(addresses).oauthProviders;
    const [named] = parseConfig({ ...addresses, OAUTH_OCTO_ISSUER: issuer }).oauthProviders;
    assert.ok(unnamed && named);
    assert.deepEqual(named, { ...unnamed, endpoints: { ...unnamed.endpoints, issuer } });
    assert.equal(unnamed.endpoints.issuer, null);
  });

  it("are refused when they are incomplete, contradictory or insecure", () => {
    const bad: Record<string, string>[] = [
      { OAUTH_ACME_CLIENT_ID: "id" },
      { OAUTH_ACME_ISSUER: "https://acme.example" },
      { ...complete, OAUTH_ACME_TOKEN_URL: "https://acme.example/token" },
      { ...complete, OAUTH_ACME_ISSUER: "http://acme.example" },
      { ...complete, OAUTH_ACME_ISSUER: "acme" },
      { OAUTH_UPLOAD_CLIENT_ID: "id", OAUTH_UPLOAD_ISSUER: "https://acme.example" },
      { OAUTH_X_Y_CLIENT_ID: "id", OAUTH_X_Y_TOKEN_URL: "https://b.example/token" },
      { OAUTH_X_CLIENT_ID: "id", OAUTH_X_ISSUER: "https://acme.example" },
      {
        [`OAUTH_${"A".repeat(33)}_CLIENT_ID`]: "id",
        [`OAUTH_${"A".repeat(33)}_ISSUER`]: "https://acme.example",
      },
    ];
    for (const env of bad) assert.throws(() => parseConfig(env), ConfigError, JSON.stringify(env));
    const local = { ...complete, OAUTH_ACME_ISSUER: "http://127.0.0.1:3000" };
    assert.equal(parseConfig(local).oauthProviders.length, 1);
    assert.throws(() => parseConfig({ ...local, APP_ENV: "production" }), /OAUTH_ACME_ISSUER/);
  });
});
