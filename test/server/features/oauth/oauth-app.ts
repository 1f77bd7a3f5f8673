import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before } from "node:test";
import * as client from "openid-client";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { insertOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import type { Clock } from "../../../../server/platform/time/clock.ts";
import { startApp, type App } from "../../../support/app.ts";
import { registerAccount } from "../../../support/identity.ts";
import { Browser, discover, issuer } from "./browser.ts";

export const redirect = "https://program.example/back";
export const scope = "openid profile email";
export const secret = "a-secret-of-a-confidential-program";
export let app: App;
let realmId = 0;
export let open: client.Configuration;
export let confidential: client.Configuration;
export let account: Awaited<ReturnType<typeof registerAccount>>;

export async function addClient(
  clientId: string,
  secretHash: string | null,
  redirectUris = [redirect],
): Promise<void> {
  const row = { clientId, realmId, name: `Name of ${clientId}`, secretHash };
  await insertOAuthClient(app.deps.em, { ...row, redirectUris });
}

export async function begin(config: client.Configuration, more: Record<string, string> = {}) {
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope,
    state: "abc",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...more,
  });
  return { verifier, url };
}

export const bearer = () => account.session.access_token;

/** The whole flow up to the redirect with the code. */
export async function authorize(config: client.Configuration, more: Record<string, string> = {}) {
  const { verifier, url } = await begin(config, more);
  const browser = new Browser(app);
  return { verifier, back: await browser.decide(await browser.open(url), bearer()) };
}

export const exchange = (config: client.Configuration, { verifier, back }: Authorized) =>
  client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: "abc",
  });

type Authorized = Awaited<ReturnType<typeof authorize>>;

export const userinfo = async (config: client.Configuration, token: string) => {
  const answer = await client.fetchProtectedResource(
    config,
    token,
    new URL(`${issuer}/v1/oauth/userinfo`),
    "GET",
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

export const isRefused = async (token: string) => {
  const answer = await fetch(`${app.url}/v1/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get("www-authenticate") ?? "", /invalid_token/);
  assert.equal(((await answer.json()) as { error: string }).error, "invalid_token");
};

export async function authorizeAs(
  token: string,
  more: Record<string, string> = {},
): Promise<Authorized> {
  const { verifier, url } = await begin(open, more);
  const browser = new Browser(app);
  return { verifier, back: await browser.decide(await browser.open(url), token) };
}

/** The service, one client of each kind and an account. */
export function startsOAuthApp(options: { clock?: Clock } = {}): void {
  before(async () => {
    app = await startApp({ ...options, env: { PUBLIC_BASE_URL: issuer } });
    realmId = (await app.deps.em.findOneOrFail(RealmSchema, { slug: "default" })).id;
    await addClient("open", null);
    await addClient("confidential", hash("sha256", secret));
    open = await discover(app, "open", client.None());
    confidential = await discover(app, "confidential", client.ClientSecretBasic(secret));
    account = await registerAccount(app);
  });
  after(() => app.stop());
}
