import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { post } from "../../../support/identity.ts";
import { visitProvider } from "../../../support/oidc-provider.ts";
import { startPlainProvider, type PlainProvider } from "../../../support/plain-provider.ts";
import {
  scriptedClient,
  startScriptedProvider,
  type ScriptedProvider,
} from "../../../support/scripted-provider.ts";
import { begin, callbackOf, openCallback, signInWithProvider } from "./visitor.ts";

const verifier = "v".repeat(43);

/** Signs in as a native client, which posts what the callback carried. */
async function signInNatively(app: App, provider: string): Promise<string> {
  const { url } = await begin(app, { provider, verifier });
  const back = await visitProvider(url, callbackOf(provider));
  const body = { ...Object.fromEntries(back.searchParams), code_verifier: verifier };
  const { status, code } = await post(app, back.pathname, body);
  return status === 200 ? "signed in" : String(code);
}

const inBrowser = async (app: App, provider: string): Promise<string> =>
  (await signInWithProvider(app, { provider })).error ?? "signed in";

describe("a provider with three addresses", () => {
  let provider: PlainProvider;
  let app: App;
  before(async () => {
    provider = await startPlainProvider();
    const addresses = (name: string) => ({
      [`OAUTH_${name}_CLIENT_ID`]: `client-of-${name}`,
      [`OAUTH_${name}_AUTHORIZE_URL`]: `${provider.url}/authorize`,
      [`OAUTH_${name}_TOKEN_URL`]: `${provider.url}/token`,
      [`OAUTH_${name}_USERINFO_URL`]: `${provider.url}/user`,
    });
    const named = { OAUTH_NAMED_ISSUER: "https://octo.example/login/oauth" };
    const env = { ...addresses("NAMED"), ...addresses("OPEN"), ...named };
    app = await startApp({ hasJobs: false, env });
  });
  after(async () => {
    await app.stop();
    await provider.stop();
  });

  const outcomes = async (name: string, iss: string | null) => {
    provider.iss = iss;
    provider.user = { status: 200, body: { id: 7, login: "octocat" } };
    return [await inBrowser(app, name), await signInNatively(app, name)];
  };
  const signedIn = ["signed in", "signed in"];
  const denied = ["oauth:provider_denied", "oauth:provider_denied"];

  it("may name its issuer in the callback, whatever the origin of its addresses", async () => {
    assert.deepEqual(await outcomes("named", "https://octo.example/login/oauth"), signedIn);
    assert.deepEqual(await outcomes("open", "https://octo.example/login/oauth"), signedIn);
  });

  it("is refused when it names another issuer than the configured one", async () => {
    assert.deepEqual(await outcomes("named", "https://octo.example/login/oauth/"), denied);
    assert.deepEqual(await outcomes("named", "https://other.example"), denied);
    assert.deepEqual(await outcomes("open", "https://other.example"), signedIn);
  });

  it("need not name its issuer", async () => {
    assert.deepEqual(await outcomes("named", null), signedIn);
    assert.deepEqual(await outcomes("open", null), signedIn);
  });

  it("is not asked for a document of its issuer", async () => {
    const { url } = await begin(app, { provider: "named" });
    assert.ok(url.startsWith(`${provider.url}/authorize?`));
    assert.equal(new URL(url).searchParams.get("scope"), null);
  });

  it("does not take the state of another provider, in either callback", async () => {
    const started = await begin(app, { provider: "open", verifier });
    const back = await visitProvider(started.url, callbackOf("open"));
    const elsewhere = new URL(back.href.replace("/open/", "/named/"));
    const returned = await openCallback(app, elsewhere, started.cookie);
    assert.deepEqual([returned.status, returned.refreshToken], [400, null]);
    assert.match(returned.text, /oauth:state_invalid/);
    const body = { ...Object.fromEntries(back.searchParams), code_verifier: verifier };
    const posted = await post(app, elsewhere.pathname, body);
    assert.equal(posted.code, "oauth:state_invalid");
    assert.equal((await post(app, back.pathname, body)).status, 200, "the state stays its own");
  });
});

describe("the issuer of a discovered provider", () => {
  let bare: ScriptedProvider;
  let slashed: ScriptedProvider;
  let app: App;
  before(async () => {
    [bare, slashed] = [await startScriptedProvider(), await startScriptedProvider("/")];
    const settings = (name: string, issuer: string) => ({
      [`OAUTH_${name}_CLIENT_ID`]: scriptedClient,
      [`OAUTH_${name}_ISSUER`]: issuer,
    });
    const env = {
      ...settings("BARE", bare.issuer),
      ...settings("BARE_WITH", `${bare.issuer}/`),
      ...settings("SLASHED", slashed.issuer),
      ...settings("SLASHED_WITHOUT", slashed.issuer.slice(0, -1)),
      ...settings("OTHER", `${bare.url}/tenant//`),
    };
    app = await startApp({ hasJobs: false, env });
  });
  after(async () => {
    await app.stop();
    await bare.stop();
    await slashed.stop();
  });

  it("is found with and without its final slash", async () => {
    for (const name of ["bare", "bare_with", "slashed", "slashed_without"])
      assert.equal(await inBrowser(app, name), "signed in", name);
  });

  it("then counts exactly as its document spells it, in callbacks and tokens", async () => {
    const denied = "oauth:provider_denied";
    for (const [provider, name] of [
      [bare, "bare_with"],
      [slashed, "slashed_without"],
      [bare, "bare"],
    ] as const) {
      const wrong = provider === bare ? `${bare.issuer}/` : slashed.issuer.slice(0, -1);
      provider.iss = { callback: wrong };
      assert.equal(await inBrowser(app, name), denied, `${name}: callback`);
      provider.iss = { token: wrong };
      assert.equal(await inBrowser(app, name), denied, `${name}: token`);
      provider.iss = {};
      assert.equal(await inBrowser(app, name), "signed in", name);
    }
  });

  it("is refused when the document names another one", async () => {
    const known = bare.issuer;
    bare.issuer = `${bare.url}/other`;
    const { status } = await app.client.get("/v1/gateway/oauth/other/url");
    bare.issuer = known;
    assert.equal(status, 503);
  });
});
