import assert from "node:assert/strict";
import { after, before } from "node:test";
import * as client from "openid-client";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { insertOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { startApp, type App } from "../../../support/app.ts";
import { password, post, uniqueName } from "../../../support/identity.ts";
import { sentMessage } from "../../../support/messages.ts";
import {
  startTestProvider,
  visitProvider,
  type TestProvider,
} from "../../../support/oidc-provider.ts";
import { Browser, discover, issuer } from "../oauth/browser.ts";
import { begin, openCallback, addProviderUser } from "../social/visitor.ts";

export const redirect = "https://program.example/back";
export const callback = `${issuer}/v1/gateway/oauth/acme/callback`;
export const keysPath = "/v1/realms/gamedata/keys";
export let app: App;

/** Another worker on the same stores. */
export let other: App;

export let provider: TestProvider;
let program: client.Configuration;
let phones = 0;

export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  limitMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** Registers an address with the headers of a browser. */
export async function register() {
  const username = uniqueName();
  const email = `${username}@example.com`;
  const agent = { "user-agent": "Stranger/1.0 <b>" };
  const answer = await post(app, "/v1/users", { email, username, password }, agent);
  assert.equal(answer.status, 201);
  const device = answer.headers.getSetCookie().find((line) => line.startsWith("svc_device="));
  return { email, session: answer.body, device: device?.split(";", 1)[0] ?? "" };
}

/** Attachments that a session adds to its account: a number, a key, a linked login, a consent, a passport. */
export async function attach(session: SessionBody) {
  const token = session.access_token;
  const phone = `+4915200${String(100_000 + (phones += 1))}`;
  await app.client.post("/v1/users/@me/phone", { token, body: { phone } });
  const { code } = (await sentMessage(app.deps, phone, "phone-code")).content;
  const verified = await app.client.post("/v1/users/@me/phone/verify", { token, body: { code } });
  assert.equal(verified.status, 200);
  const made = await app.client.post(keysPath, { token, body: { name: "Mine", scopes: ["*"] } });
  const { plaintext } = made.body as { plaintext: string };
  const subject = addProviderUser(provider, {});
  const startedLogin = await begin(app, { token });
  const linked = await openCallback(
    app,
    await visitProvider(startedLogin.url, callback),
    startedLogin.cookie,
  );
  assert.equal(linked.error, null);
  const verifier = client.randomPKCECodeVerifier();
  const asked = client.buildAuthorizationUrl(program, {
    redirect_uri: redirect,
    scope: "openid email offline_access",
    prompt: "consent",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser(app);
  const back = await browser.decide(await browser.open(asked), token);
  const granted = await client.authorizationCodeGrant(program, back, {
    pkceCodeVerifier: verifier,
  });
  const { passport } = (await app.client.get("/v1/tokens/passport", { token })).body as {
    passport: string;
  };
  return { phone, plaintext, subject, granted, passport };
}

type AttachedAccess = Awaited<ReturnType<typeof attach>>;

export const login = (email: string, given = password) =>
  post(app, "/v1/gateway/login", { identifier: email, password: given });

export const linkTo = async (email: string) =>
  (await sentMessage(app.deps, email, "verify-email")).content.links[0] ?? "";

/** Whether each attachment still grants access, on the given worker. */
export async function accessStatuses(at: App, session: SessionBody, had: AttachedAccess) {
  const authorization = `Bearer ${had.granted.access_token}`;
  const [access, key, consent] = [
    await at.client.get("/v1/users/@me", { token: session.access_token }),
    await at.client.get("/v1/wallet/@me", { headers: { "x-api-key": had.plaintext } }),
    await fetch(`${at.url}/v1/oauth/userinfo`, { headers: { authorization } }),
  ];
  return [access, key, consent].map(({ status }) => status);
}

/** Two workers on the same stores, a provider of logins and a program. */
export function startsProofApp(): void {
  before(async () => {
    provider = await startTestProvider([callback]);
    const env = {
      PUBLIC_BASE_URL: issuer,
      OAUTH_ACME_CLIENT_ID: provider.clientId,
      OAUTH_ACME_SECRET: provider.clientSecret,
      OAUTH_ACME_ISSUER: provider.issuer,
    };
    app = await startApp({ env });
    const shared = { DATABASE_URL: app.stores.databaseUrl, REDIS_URL: app.stores.redisUrl };
    other = await startApp({ env: { ...env, ...shared }, hasJobs: false });
    const realmId = (await app.deps.em.findOneOrFail(RealmSchema, { slug: "default" })).id;
    const row = { clientId: "program", realmId, name: "Fan site", secretHash: null };
    await insertOAuthClient(app.deps.em, { ...row, redirectUris: [redirect] });
    program = await discover(app, "program", client.None());
  });
  after(async () => {
    await other.stop();
    await app.stop();
    await provider.stop();
  });
}
