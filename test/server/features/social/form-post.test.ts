import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { startApp, type App } from "../../../support/app.ts";
import { registerAccount } from "../../../support/identity.ts";
import {
  scriptedClient,
  scriptedCode,
  startScriptedProvider,
  type ScriptedProvider,
} from "../../../support/scripted-provider.ts";
import { begin, callbackOf, openCallback, sessionOf, type StartedLogin } from "./visitor.ts";

const settings = (name: string, { issuer }: ScriptedProvider) => ({
  [`OAUTH_${name}_CLIENT_ID`]: scriptedClient,
  [`OAUTH_${name}_ISSUER`]: issuer,
  [`OAUTH_${name}_SCOPES`]: "openid email name",
  [`OAUTH_${name}_RESPONSE_MODE`]: "form_post",
});

let provider: ScriptedProvider;
let app: App;

/** The page of the provider, which posts a form to our callback from its own site: without our cookies. */
async function postForm(fields: Record<string, string>, name = "apple") {
  const { pathname } = new URL(callbackOf(name));
  const answer = await fetch(app.url + pathname, {
    method: "POST",
    redirect: "manual",
    headers: { origin: "https://appleid.example", "sec-fetch-site": "cross-site" },
    body: new URLSearchParams(fields),
  });
  await answer.arrayBuffer();
  return answer;
}

/** A person at the provider, up to the form that its page posts. */
async function start(claims: Record<string, unknown>, token?: string) {
  const started = await begin(app, {
    provider: "apple",
    ...(token === undefined ? {} : { token }),
  });
  await (await fetch(started.url, { redirect: "manual" })).arrayBuffer();
  provider.claims = claims;
  return { started, fields: { code: scriptedCode, state: started.state } };
}

async function proceed(started: StartedLogin, answer: Response) {
  return openCallback(app, new URL(answer.headers.get("location") ?? ""), started.cookie);
}

const user = (firstName: string, more: object = {}) =>
  JSON.stringify({ name: { firstName, lastName: "Lovelace" }, ...more });

const namesKept = async () => (await app.deps.redis.keys("oauth:state-name:*")).length;

describe("a provider that posts a form", () => {
  before(async () => {
    provider = await startScriptedProvider();
    const env = { ...settings("APPLE", provider), ...settings("OTHER", provider) };
    app = await startApp({ hasJobs: false, env });
  });
  after(async () => {
    await app.stop();
    await provider.stop();
  });

  describe("signs in", () => {
    it("leads to its own callback by GET, which the browser proves by its cookie", async () => {
      const { started, fields } = await start({ sub: "apple-1" });
      assert.equal(provider.asked.get("response_mode"), "form_post");
      const answer = await postForm(fields);
      assert.equal(answer.status, 303);
      assert.deepEqual(answer.headers.getSetCookie(), []);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      const location = new URL(answer.headers.get("location") ?? "");
      assert.equal(location.origin + location.pathname, callbackOf("apple"));
      assert.deepEqual(Object.fromEntries(location.searchParams), fields);
      const stranger = await openCallback(app, location, "");
      assert.deepEqual([stranger.status, stranger.refreshToken], [400, null]);
      assert.equal((await proceed(started, answer)).error, null);
    });

    it("takes the name that is posted once, and keeps it at later sign-ins", async () => {
      const claims = { sub: "apple-2", email: "ada@apple.example", email_verified: "true" };
      const { started, fields } = await start(claims);
      const answer = await postForm({ ...fields, user: user("Ada") });
      const location = answer.headers.get("location") ?? "";
      assert.ok(!location.includes("Ada"), "the address does not carry it");
      const session = await sessionOf(app, await proceed(started, answer));
      assert.equal(session.player.display_name, "Ada Lovelace");
      const again = await start(claims);
      const returned = await proceed(again.started, await postForm(again.fields));
      assert.equal((await sessionOf(app, returned)).player.id, session.player.id);
      const listed = await app.client.get("/v1/users/@me/connections", {
        token: session.access_token,
      });
      assert.match(listed.text, /"name":"Ada Lovelace"/);
    });

    it("reports a refusal of the person", async () => {
      const { started, fields } = await start({ sub: "apple-3" });
      const answer = await postForm({ state: fields.state, error: "user_cancelled_authorize" });
      assert.equal((await proceed(started, answer)).error, "oauth:provider_denied");
    });

    it("links to the account that asked for it", async () => {
      const { session } = await registerAccount(app);
      const { started, fields } = await start({ sub: "apple-4" }, session.access_token);
      const returned = await proceed(started, await postForm(fields));
      assert.deepEqual([returned.error, returned.refreshToken], [null, null]);
    });
  });
  describe("proves nothing by it", () => {
    it("takes address and its verification from the id token alone", async () => {
      const posted = user("Eve", { email: "victim@apple.example", email_verified: true });
      for (const claims of [
        { sub: "apple-5" },
        { sub: "apple-6", email: "own@apple.example", email_verified: false },
      ]) {
        const { started, fields } = await start(claims);
        const more = { user: posted, email: "victim@apple.example", email_verified: "true" };
        const answer = await postForm({ ...fields, ...more });
        const { player } = await sessionOf(app, await proceed(started, answer));
        assert.equal(player.email, claims.email ?? null);
        assert.equal(player.email_verified_at, null);
      }
    });

    it("prefers the name in the id token", async () => {
      const { started, fields } = await start({ sub: "apple-7", name: "Grace" });
      const returned = await proceed(started, await postForm({ ...fields, user: user("Eve") }));
      assert.equal((await sessionOf(app, returned)).player.display_name, "Grace");
    });

    it("is refused with a state of another provider, whose name is dropped", async () => {
      const { started, fields } = await start({ sub: "apple-8" });
      const answer = await postForm({ ...fields, user: user("Eve") }, "other");
      assert.equal((await proceed(started, answer)).status, 400);
      const returned = await proceed(started, await postForm(fields));
      assert.doesNotMatch((await sessionOf(app, returned)).player.display_name ?? "", /Eve/);
      assert.equal((await postForm(fields, "nobody")).status, 404);
    });
  });
  describe("leaves nothing behind", () => {
    it("keeps a name for an open state only, and no longer than that", async () => {
      const { started, fields } = await start({ sub: "apple-9" });
      assert.equal(await namesKept(), 0);
      await postForm({ ...fields, state: "x".repeat(43), user: user("Ada") });
      await postForm({ code: scriptedCode, user: user("Ada") });
      assert.equal(await namesKept(), 0);
      for (let post = 0; post < 3; post++) await postForm({ ...fields, user: user("Ada") });
      const [key, ...others] = await app.deps.redis.keys("oauth:state-name:*");
      assert.ok(key !== undefined && others.length === 0);
      const ttl = await app.deps.redis.ttl(key);
      assert.ok(ttl > 0 && ttl <= 600, String(ttl));
      await proceed(started, await postForm(fields));
      assert.equal(await namesKept(), 0);
    });

    it("drops what is no name", async () => {
      const { started, fields } = await start({ sub: "apple-10" });
      for (const odd of [
        "",
        "Ada",
        "null",
        "[]",
        '{"name":null}',
        '{"name":{"firstName":7}}',
        '{"name":{"firstName":"\\u202eAda"}}',
        user("x".repeat(100)),
        user("Ada", { padding: "x".repeat(1_024) }),
        `${"[".repeat(500)}`,
      ])
        assert.equal((await postForm({ ...fields, user: odd })).status, 303, odd);
      assert.equal(await namesKept(), 0);
      const returned = await proceed(started, await postForm(fields));
      assert.match((await sessionOf(app, returned)).player.display_name ?? "", /^apple_\d{6}$/);
    });

    it("posts forms to that address only: others still take JSON alone", async () => {
      for (const path of ["/v1/gateway/login", "/v1/gateway/refresh"]) {
        const body = new URLSearchParams({ identifier: "a", password: "b" });
        const answer = await fetch(app.url + path, { method: "POST", body });
        assert.equal(answer.status, 415, path);
      }
      const multipart = new FormData();
      multipart.set("state", "x");
      const { pathname } = new URL(callbackOf("apple"));
      for (const body of [multipart, "state=x"])
        assert.equal((await fetch(app.url + pathname, { method: "POST", body })).status, 415);
      const large = await postForm({ code: "x".repeat(70_000) });
      assert.equal(large.status, 413);
    });

    it("is configured by a response mode that is known", () => {
      const env = { OAUTH_A1_CLIENT_ID: "id", OAUTH_A1_ISSUER: "https://a.example" };
      const [unset] = parseConfig(env).oauthProviders;
      assert.equal(unset?.responseMode, null);
      const wrong = { ...env, OAUTH_A1_RESPONSE_MODE: "fragment" };
      assert.throws(() => parseConfig(wrong), /OAUTH_A1_RESPONSE_MODE: one of query, form_post/);
    });
  });
});
