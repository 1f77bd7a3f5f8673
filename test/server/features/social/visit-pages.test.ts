import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { RealmBrandingSchema } from "../../../../db/entities/realm-branding.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { startApp, type App } from "../../../support/app.ts";
import { registerAccount } from "../../../support/identity.ts";
import {
  scriptedClient,
  startScriptedProvider,
  type ScriptedProvider,
} from "../../../support/scripted-provider.ts";
import { visitProvider } from "../../../support/oidc-provider.ts";
import { begin, callbackOf, openCallback } from "./visitor.ts";

/** What browsers send for a navigation. */
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("an address that signs a browser in, visited when it works no longer", () => {
  let provider: ScriptedProvider;
  let app: App;
  before(async () => {
    provider = await startScriptedProvider();
    app = await startApp({
      hasJobs: false,
      env: {
        OAUTH_ACME_CLIENT_ID: scriptedClient,
        OAUTH_ACME_ISSUER: provider.issuer,
      },
    });
  });
  after(async () => {
    await app.stop();
    await provider.stop();
  });

  const visit = (path: string, headers: Record<string, string> = {}) =>
    app.client.get(path, { headers: { accept, ...headers } });

  async function usedCallback(): Promise<{ path: string; cookie: string }> {
    const started = await begin(app);
    const back = await visitProvider(started.url, callbackOf("acme"));
    assert.equal((await openCallback(app, back, started.cookie)).error, null);
    return { path: back.pathname + back.search, cookie: started.cookie };
  }

  async function usedPassport(): Promise<string> {
    const { session } = await registerAccount(app);
    const answer = await app.client.get("/v1/tokens/passport", { token: session.access_token });
    const { passport } = answer.body as { passport: string };
    const query = new URLSearchParams({ passport, redirect: "http://localhost/" });
    const path = `/v1/gateway/customs?${query.toString()}`;
    assert.equal((await app.client.get(path)).status, 302);
    return path;
  }

  it("is a page with a way back after Back and reload, in the language of the reader", async () => {
    const { path, cookie } = await usedCallback();
    const page = await visit(path, { cookie });
    assert.equal(page.status, 400);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(page.text, /no longer open/);
    assert.match(page.text, /<a href="http:\/\/127\.0\.0\.1:8080\/">/);
    const german = await visit(path, { cookie, "accept-language": "de" });
    assert.match(german.text, /<html lang="de">[^]*nicht mehr offen/);
  });

  it("is a page when the sign-in took longer than its state lives", async () => {
    const started = await begin(app);
    const back = await visitProvider(started.url, callbackOf("acme"));
    await app.deps.redis.pexpire(`oauth:state:${hash("sha256", started.state)}`, 0);
    const page = await visit(back.pathname + back.search, { cookie: started.cookie });
    assert.equal(page.status, 400);
    assert.match(page.text, /took too long/);
  });

  it("is a page for a passport too, and for an unknown provider", async () => {
    const used = await visit(await usedPassport());
    assert.equal(used.status, 401);
    assert.match(used.text, /no longer open/);
    const elsewhere = await visit("/v1/gateway/customs?redirect=https://evil.example/");
    assert.equal(elsewhere.status, 400);
    assert.match(elsewhere.text, /start again/);
    const unknown = await visit("/v1/gateway/oauth/nobody/callback?state=x");
    assert.equal(unknown.status, 404);
    for (const { text } of [elsewhere, unknown]) assert.doesNotMatch(text, /evil|nobody/);
  });

  it("leads back to the front end of the default realm", async () => {
    const em = app.deps.orm.em.fork();
    const realm = await em.findOneOrFail(RealmSchema, { slug: "default" });
    const branding = em.create(RealmBrandingSchema, {
      realm: realm.id,
      frontendUrl: "https://games.example/play/",
    });
    await em.flush();
    const page = await visit("/v1/gateway/oauth/acme/callback?state=x");
    await em.remove(branding).flush();
    assert.match(page.text, /<a href="https:\/\/games\.example\/play\/">/);
  });

  it("runs no script, is in no frame, and is stored nowhere", async () => {
    const { path } = await usedCallback();
    for (const address of [path, await usedPassport()]) {
      const page = await visit(address);
      const policy = page.headers.get("content-security-policy") ?? "";
      for (const part of ["default-src 'self'", "form-action 'none'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(part), part);
      assert.doesNotMatch(page.text, /<script|style=|state=|passport=/);
      assert.equal(page.headers.get("cache-control"), "no-store");
      assert.equal(page.headers.get("referrer-policy"), "no-referrer");
      assert.match(page.headers.get("vary") ?? "", /Accept/);
      assert.deepEqual(page.headers.getSetCookie(), []);
    }
  });

  it("stays JSON for a program", async () => {
    const { path, cookie } = await usedCallback();
    for (const wanted of ["*/*", "application/json", "text/html;q=0, application/json"]) {
      const answer = await app.client.get(path, { headers: { accept: wanted, cookie } });
      assert.equal(answer.status, 400, wanted);
      assert.match(answer.text, /oauth:state_invalid/);
    }
    const passport = await app.client.get(await usedPassport(), { headers: { accept: "*/*" } });
    assert.match(passport.text, /sso:passport_invalid/);
  });
});
