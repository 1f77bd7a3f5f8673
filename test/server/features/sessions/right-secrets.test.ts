import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { insertOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import { randomSecret, saveState } from "../../../../server/features/social/states.ts";
import { unsubscribeToken } from "../../../../server/features/system/unsubscribe-token.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  cookieOf,
  enter,
  password,
  post,
  registerAccount,
  uniqueName,
} from "../../../support/identity.ts";
import { sentMessage } from "../../../support/messages.ts";

/** Path, and the request for a given secret. */
interface Call {
  path: string;
  of: (secret: string) => { body?: object; headers?: Record<string, string> };
  query?: (secret: string) => string;
}

/** As a mail program wraps a long line. */
const pasted = (token: string) => ` ${token.slice(0, 70)}\r\n${token.slice(70)}`;

const calls = {
  refresh: { path: "/v1/gateway/refresh", of: (refresh_token) => ({ body: { refresh_token } }) },
  cookie: { path: "/v1/gateway/refresh", of: (token) => ({ body: {}, headers: cookieOf(token) }) },
  logout: { path: "/v1/gateway/logout", of: (token) => ({ headers: cookieOf(token) }) },
  reclaim: { path: "/v1/gateway/guest", of: (reclaimToken) => ({ body: { reclaimToken } }) },
  reset: {
    path: "/v1/gateway/reset-password",
    of: (token) => ({ body: { token: pasted(token), password: "another horse 2" } }),
  },
  verify: {
    path: "/v1/users/email/verify",
    of: (token) => ({ body: { token: pasted(token) } }),
  },
  unsubscribe: {
    path: "/v1/unsubscribe",
    of: () => ({}),
    query: (token) => `?${new URLSearchParams({ email: "reader@example.com", token }).toString()}`,
  },
} as const satisfies Record<string, Call>;

describe("wrong secrets from an address", () => {
  let app: App;
  let addresses = 0;
  before(async () => {
    const env = { RATE_LIMIT_FACTOR: "0.05", TRUSTED_PROXIES: "127.0.0.1/32" };
    app = await startApp({ env });
  });
  after(() => app.stop());

  const send = (call: Call, secret: string, address: string) => {
    const { body, headers } = call.of(secret);
    return app.client.post(call.path + (call.query?.(secret) ?? ""), {
      ...(body ? { body } : {}),
      headers: { "x-forwarded-for": address, ...headers },
    });
  };
  /** An address that has exceeded its limit. */
  async function throttled(call: Call): Promise<string> {
    const address = `203.0.113.${++addresses}`;
    for (let i = 0; i < 20; i++)
      if ((await send(call, `wrong-${i}`, address)).status === 429) return address;
    throw new Error(`${call.path} is never throttled`);
  }
  const linkToken = async (email: string, template: string) => {
    const { content } = await sentMessage(app.deps, email, template);
    return new URL(content.links[0] ?? "").searchParams.get("token") ?? "";
  };

  it("are throttled without blocking a caller with the right secret", async () => {
    const guest = await enter(app);
    const other = await enter(app);
    const { email } = await registerAccount(app);
    // A password reset verifies the address by itself, so this is a separate account.
    const account = { email: "unverified@example.com", username: "unverified", password };
    const elsewhere = { "x-forwarded-for": "203.0.113.250" };
    assert.equal((await post(app, "/v1/users", account, elsewhere)).status, 201);
    await app.client.post("/v1/gateway/reset-password/request", { body: { email } });
    const right: Record<keyof typeof calls, string> = {
      refresh: guest.refresh_token,
      cookie: other.refresh_token,
      logout: other.refresh_token,
      reclaim: guest.reclaim_token ?? "",
      reset: await linkToken(email, "reset-password"),
      verify: await linkToken(account.email, "verify-email"),
      unsubscribe: unsubscribeToken(app.deps.config, "reader@example.com"),
    };
    for (const [name, call] of Object.entries(calls) as [keyof typeof calls, Call][]) {
      const address = await throttled(call);
      const answer = await send(call, right[name], address);
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
      assert.equal((await send(call, "wrong", address)).status, 429, name);
    }
  });

  it("leave a separate limit to the right secret", async () => {
    const guest = await enter(app);
    const address = await throttled(calls.reclaim);
    const max = 3;
    for (let i = 0; i < max; i++)
      assert.equal((await send(calls.reclaim, guest.reclaim_token ?? "", address)).status, 200);
    const refused = await send(calls.reclaim, guest.reclaim_token ?? "", address);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
  });

  it("do not block a program with the right secret", async () => {
    const em = app.deps.em.fork();
    const realm = await em.findOneOrFail(RealmSchema, { slug: "default" });
    const clientId = "confidential";
    await insertOAuthClient(em, {
      clientId,
      name: "Confidential",
      redirectUris: ["https://program.example/back"],
      realmId: realm.id,
      secretHash: hash("sha256", "the right secret"),
    });
    const ask = async (secret: string) => {
      const basic = Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString("base64");
      const answer = await fetch(`${app.url}/v1/oauth/token`, {
        method: "POST",
        headers: { authorization: `Basic ${basic}`, "x-forwarded-for": "198.51.100.7" },
        body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "unknown" }),
      });
      return [answer.status, await answer.text()] as const;
    };
    const statuses = [];
    for (let i = 0; i < 17; i++) statuses.push((await ask(`wrong ${i}`))[0]);
    assert.deepEqual([...new Set(statuses)], [401, 429]);
    const [status, text] = await ask("the right secret");
    assert.deepEqual([status, text.includes("invalid_grant")], [400, true], text);
    assert.equal((await ask("wrong"))[0], 429);
  });

  it("do not block the return from a provider for a sign-in that was started", async () => {
    const [state, code_verifier] = [randomSecret(), randomSecret()];
    await saveState(app.deps, state, {
      provider: "nobody",
      linker: null,
      redirect: "http://localhost/",
      realm: "default",
      nonce: "n",
      codeVerifier: "v",
      browserHash: "none",
      challenge: hash("sha256", code_verifier, "base64url"),
    });
    const signInFrom = async (body: Record<string, string>) => {
      const headers = { "x-forwarded-for": "198.51.100.11" };
      const path = "/v1/gateway/oauth/nobody/callback";
      return (await post(app, path, { code: "c", ...body }, headers)).code;
    };
    for (let i = 0; i < 2; i++) await signInFrom({ state: randomSecret() });
    assert.equal(await signInFrom({ state }), "rate_limit:exceeded");
    assert.equal(await signInFrom({ state, code_verifier: randomSecret() }), "rate_limit:exceeded");
    assert.equal(await signInFrom({ state, code_verifier }), "oauth:provider_unknown");
  });

  it("do not block an API key", async () => {
    const name = uniqueName();
    const account = { email: `${name}@example.com`, username: name, password };
    const elsewhere = { "x-forwarded-for": "198.51.100.10" };
    const { body: session } = await post(app, "/v1/users", account, elsewhere);
    const made = await app.client.post("/v1/realms/default/keys", {
      token: session.access_token,
      body: { name: "right", scopes: ["profile:read", "trivia:write"] },
      headers: { "x-forwarded-for": "198.51.100.8" },
    });
    const { plaintext } = made.body as { plaintext: string };
    const ask = (key: string) =>
      app.client.get("/v1/users/@me", {
        headers: { "x-api-key": key, "x-forwarded-for": "198.51.100.9" },
      });
    const wrong = plaintext.slice(0, -4) + (plaintext.endsWith("AAAA") ? "BBBB" : "AAAA");
    for (let i = 0; i < 30; i++) assert.equal((await ask(wrong)).status, 401);
    assert.equal((await ask(plaintext)).status, 200);
  });
});
