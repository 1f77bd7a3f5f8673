import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import * as client from "openid-client";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import {
  insertOAuthClient,
  revokeOAuthClient,
} from "../../../../db/queries/oauth/oauth-clients.ts";
import {
  countOpenFamilies,
  revokeFamiliesOf,
} from "../../../../db/queries/sessions/token-families.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, password, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { Browser, discover, issuer } from "./browser.ts";

const redirect = "https://program.example/back";
const scope = "openid profile email";
const secret = "a-secret-of-a-confidential-program";
let app: App;
let realmId = 0;
let open: client.Configuration;
let confidential: client.Configuration;
let account: Awaited<ReturnType<typeof registerAccount>>;

async function addClient(
  clientId: string,
  secretHash: string | null,
  redirectUris = [redirect],
): Promise<void> {
  const row = { clientId, realmId, name: `Name of ${clientId}`, secretHash };
  await insertOAuthClient(app.deps.em, { ...row, redirectUris });
}

async function begin(config: client.Configuration, more: Record<string, string> = {}) {
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

const bearer = () => account.session.access_token;

/** Through the whole flow to the redirect that carries the code. */
async function authorize(config: client.Configuration, more: Record<string, string> = {}) {
  const { verifier, url } = await begin(config, more);
  const browser = new Browser(app);
  return { verifier, back: await browser.decide(await browser.open(url), bearer()) };
}

const exchange = (config: client.Configuration, { verifier, back }: Authorized) =>
  client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: "abc",
  });

type Authorized = Awaited<ReturnType<typeof authorize>>;

const userinfo = async (config: client.Configuration, token: string) => {
  const answer = await client.fetchProtectedResource(
    config,
    token,
    new URL(`${issuer}/v1/oauth/userinfo`),
    "GET",
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const isRefused = async (token: string) => {
  const answer = await fetch(`${app.url}/v1/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get("www-authenticate") ?? "", /invalid_token/);
  assert.equal(((await answer.json()) as { error: string }).error, "invalid_token");
};

async function authorizeAs(token: string, more: Record<string, string> = {}): Promise<Authorized> {
  const { verifier, url } = await begin(open, more);
  const browser = new Browser(app);
  return { verifier, back: await browser.decide(await browser.open(url), token) };
}

describe("the OAuth 2.0 server", () => {
  before(async () => {
    app = await startApp({ env: { PUBLIC_BASE_URL: issuer } });
    realmId = (await app.deps.em.findOneOrFail(RealmSchema, { slug: "default" })).id;
    await addClient("open", null);
    await addClient("confidential", hash("sha256", secret));
    open = await discover(app, "open", client.None());
    confidential = await discover(app, "confidential", client.ClientSecretBasic(secret));
    account = await registerAccount(app);
  });
  after(() => app.stop());

  describe("describes itself", describesItself);
  describe("signs players in", signsPlayersIn);
  describe("to a program that wants a recent sign-in", toProgramWantsRecent);
  describe("refuses requests of programs", refusesRequestsPrograms);
  describe("gives tokens for codes", givesTokensForCodes);
  describe("ends sessions", endsSessions);
  describe("knows no secrets and takes no nonsense", knowsNoSecretsTakes);
});

function describesItself(): void {
  it("describes itself: S256 alone, code flow alone, its own addresses", async () => {
    const answer = await fetch(`${app.url}/.well-known/oauth-authorization-server`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    assert.equal(metadata["issuer"], issuer);
    assert.deepEqual(metadata["code_challenge_methods_supported"], ["S256"]);
    assert.deepEqual(metadata["response_types_supported"], ["code"]);
    assert.deepEqual(metadata["response_modes_supported"], ["query"]);
    assert.equal(metadata["authorization_endpoint"], `${issuer}/v1/oauth/authorize`);
    assert.equal(metadata["token_endpoint"], `${issuer}/v1/oauth/token`);
    assert.equal(metadata["revocation_endpoint"], `${issuer}/v1/oauth/revoke`);
    assert.equal(metadata["userinfo_endpoint"], `${issuer}/v1/oauth/userinfo`);
  });

  it("is found where OpenID Connect libraries look", async () => {
    const at = async (name: string): Promise<unknown> =>
      (await fetch(`${app.url}/.well-known/${name}`)).json();
    assert.deepEqual(await at("openid-configuration"), await at("oauth-authorization-server"));
  });

  it("lets a page of any program call what it needs, without cookies, and nothing else", async () => {
    const origin = "https://program.example";
    const granted = ({ headers }: Response) => [
      headers.get("access-control-allow-origin"),
      headers.get("access-control-allow-credentials"),
    ];
    const call = async (method: string, path: string) => {
      const asked = { "access-control-request-method": method };
      const before = await fetch(app.url + path, {
        method: "OPTIONS",
        headers: { origin, ...asked, "access-control-request-headers": "authorization" },
      });
      assert.deepEqual(granted(await fetch(app.url + path, { method, headers: { origin } })), [
        ...granted(before),
      ]);
      return granted(before);
    };
    for (const [method, path] of [
      ["GET", "/.well-known/openid-configuration"],
      ["GET", "/.well-known/oauth-authorization-server"],
      ["GET", "/v1/oauth/jwks"],
      ["GET", "/v1/oauth/userinfo"],
      ["POST", "/v1/oauth/token"],
      ["POST", "/v1/oauth/revoke"],
    ] as const)
      assert.deepEqual(await call(method, path), ["*", null], path);
    for (const [method, path] of [
      ["GET", "/v1/oauth/authorize"],
      ["POST", "/v1/oauth/consent/abcdefgh12"],
      ["GET", "/v1/oauth/consent/abcdefgh12/question"],
      ["POST", "/v1/gateway/refresh"],
      ["GET", "/v1/users/@me"],
    ] as const)
      assert.deepEqual(await call(method, path), [null, null], path);
  });
}

function signsPlayersIn(): void {
  it("signs players in at public programs, and at confidential ones by header or form", async () => {
    const byForm = await discover(app, "confidential", client.ClientSecretPost(secret));
    for (const config of [open, confidential, byForm]) {
      const tokens = await exchange(config, await authorize(config));
      const { id, name } = account.session.player;
      assert.equal(tokens.claims()?.sub, String(id));
      const { status, body } = await userinfo(config, tokens.access_token);
      assert.equal(status, 200);
      assert.deepEqual(
        [body["sub"], body["email"], body["email_verified"], body["preferred_username"]],
        [String(id), account.email, false, name],
      );
    }
  });

  it("asks in the name of the program, of this browser and of nobody else", async () => {
    const browser = new Browser(app);
    const page = await browser.open((await begin(open)).url);
    const shown = await browser.request("GET", page);
    assert.equal(shown.status, 200);
    assert.match(shown.text, /consent\.js/);
    const question = await browser.request("GET", `${page}/question`);
    assert.deepEqual(question.body, {
      client_name: "Name of open",
      realm: "default",
      scopes: scope.split(" "),
      must_sign_in: false,
    });
    const stranger = new Browser(app);
    assert.equal((await stranger.request("GET", `${page}/question`)).status, 404);
    const yes = { body: { is_allowed: true }, bearer: bearer() };
    assert.equal((await stranger.request("POST", page, yes)).status, 404);
    assert.equal((await browser.request("POST", page, { body: yes.body })).status, 401);
    const guest = await enter(app);
    const asGuest = { body: yes.body, bearer: guest.access_token };
    assert.equal((await browser.request("POST", page, asGuest)).status, 403);
    assert.equal(
      (await browser.decide(page, bearer(), false)).searchParams.get("error"),
      "access_denied",
    );
    assert.equal((await browser.request("POST", page, yes)).status, 404);
  });

  it("keeps two people at one browser apart", async () => {
    const other = await registerAccount(app);
    const browser = new Browser(app);
    const subjects: (string | undefined)[] = [];
    for (const session of [account.session, other.session]) {
      const { verifier, url } = await begin(open);
      const back = await browser.decide(await browser.open(url), session.access_token);
      subjects.push((await exchange(open, { verifier, back })).claims()?.sub);
    }
    assert.deepEqual(
      subjects,
      [account, other].map(({ session }) => String(session.player.id)),
    );
  });

  it("lets a browser answer in two tabs, in any order", async () => {
    const browser = new Browser(app);
    const tabs = [];
    for (let i = 0; i < 2; i++) {
      const { verifier, url } = await begin(open);
      tabs.push({ verifier, page: await browser.open(url) });
    }
    for (const { verifier, page } of tabs.toReversed()) {
      const back = await browser.decide(page, bearer());
      assert.ok((await exchange(open, { verifier, back })).access_token);
    }
  });
}

function toProgramWantsRecent(): void {
  const day = 86_400;
  let email = "";
  let old = "";
  const signIn = async () =>
    (await post(app, "/v1/gateway/login", { identifier: email, password })).body.access_token;
  const ask = async (more: Record<string, string>) => {
    const { verifier, url } = await begin(open, more);
    const browser = new Browser(app);
    const page = await browser.open(url);
    const question = await browser.request("GET", `${page}/question`);
    return { verifier, browser, page, question: question.body as { must_sign_in: boolean } };
  };
  type Asked = Awaited<ReturnType<typeof ask>>;
  const signedInAt = async ({ verifier, browser, page }: Asked, access: string) => {
    const tokens = await exchange(open, { verifier, back: await browser.decide(page, access) });
    return tokens.claims()?.auth_time ?? 0;
  };
  const now = () => Math.floor(Date.now() / 1_000);

  before(async () => {
    const made = await registerAccount(app);
    email = made.email;
    old = made.session.access_token;
    const player = made.session.player.id;
    const createdAt = new Date(Date.now() - day * 1_000);
    await app.deps.em.nativeUpdate(TokenFamilySchema, { player }, { createdAt });
  });

  it("gives no session from before its request, but one of the same moment", async () => {
    for (const more of [{ prompt: "login" }, { prompt: "login consent" }, { max_age: "0" }]) {
      const asked = await ask(more);
      assert.equal(asked.question.must_sign_in, true);
      await assert.rejects(asked.browser.decide(asked.page, old), /401.*oauth:sign_in_required/);
      const began = now();
      assert.ok((await signedInAt(asked, await signIn())) >= began);
    }
  });

  it("takes what was signed in since, and nothing else, whatever the clocks of its hosts say", async () => {
    const { databaseUrl, redisUrl } = app.stores;
    const env = { PUBLIC_BASE_URL: issuer, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
    for (const minutes of [-30, 30]) {
      const clock = manualClock(Date.now() + minutes * 60_000);
      const host = await startApp({ clock, env, hasJobs: false });
      const signInThere = async () => {
        const answer = await post(host, "/v1/gateway/login", { identifier: email, password });
        return answer.body.access_token;
      };
      try {
        for (const more of [{ prompt: "login" }, { max_age: "0" }, { max_age: "60" }]) {
          const before = await signInThere();
          const asked = await ask(more);
          await assert.rejects(
            asked.browser.decide(asked.page, before),
            /401.*oauth:sign_in_required/,
          );
          const began = now();
          const at = await signedInAt(asked, await signInThere());
          assert.ok(at >= began - 5 && at <= now(), `${minutes} minutes: ${at - began}`);
        }
      } finally {
        await host.stop();
      }
    }
  });

  it("gives none older than max_age", async () => {
    const asked = await ask({ max_age: "3600" });
    assert.equal(asked.question.must_sign_in, false);
    await assert.rejects(asked.browser.decide(asked.page, old), /401.*oauth:sign_in_required/);
    assert.ok(await signedInAt(asked, await signIn()));
  });

  it("says when the player really signed in", async () => {
    const at = await signedInAt(await ask({ max_age: String(2 * day) }), old);
    assert.ok(Math.abs(now() - day - at) < 600, String(at));
  });

  /** Sessions that nobody showed credentials for since the program asked. */
  const elsewhere = {
    async passport(access: string) {
      const answer = await app.client.get("/v1/tokens/passport", { token: access });
      const { passport } = answer.body as { passport: string };
      const goal = "http://localhost/";
      const query = new URLSearchParams({ passport, redirect: goal }).toString();
      const there = await app.client.get(`/v1/gateway/customs?${query}`);
      assert.equal(there.status, 302);
      return refreshed(/svc_refresh=([^;]+)/.exec(there.headers.get("set-cookie") ?? "")?.[1]);
    },
    async upgrade() {
      const guest = await enter(app);
      const email = `${guest.player.name.toLowerCase()}@example.com`;
      const answer = await post(app, "/v1/gateway/upgrade", { email, password }, tokenOf(guest));
      return answer.body.access_token;
    },
  };
  const refreshed = async (token: string | undefined) =>
    (await post(app, "/v1/gateway/refresh", { refresh_token: token })).body.access_token;

  it("takes no passport, no upgrade and no refresh for a sign-in", async () => {
    const { email: address, session } = await registerAccount(app);
    const player = session.player.id;
    const authenticatedAt = new Date(Date.now() - day * 1_000);
    await app.deps.em.nativeUpdate(TokenFamilySchema, { player }, { authenticatedAt });
    for (const more of [{ prompt: "login" }, { max_age: "3600" }]) {
      const asked = await ask(more);
      const made = [
        await refreshed(session.refresh_token),
        await elsewhere.passport(session.access_token),
        await elsewhere.passport(await elsewhere.passport(session.access_token)),
        await elsewhere.upgrade(),
      ];
      for (const [at, access] of made.entries())
        await assert.rejects(
          asked.browser.decide(asked.page, access),
          /401.*oauth:sign_in_required/,
          String(at),
        );
      const again = await post(app, "/v1/gateway/login", { identifier: address, password });
      assert.ok(await signedInAt(asked, again.body.access_token));
    }
  });

  it("tells of a passport's session when its player really signed in", async () => {
    const { session } = await registerAccount(app);
    const player = session.player.id;
    const authenticatedAt = new Date(Date.now() - day * 1_000);
    await app.deps.em.nativeUpdate(TokenFamilySchema, { player }, { authenticatedAt });
    const access = await elsewhere.passport(session.access_token);
    const at = await signedInAt(await ask({ max_age: String(2 * day) }), access);
    assert.equal(at, Math.floor(authenticatedAt.getTime() / 1_000));
  });

  it("is told of no sign-in when it asks for none and there was none", async () => {
    const asked = await ask({});
    const browser = { ...asked, access: await elsewhere.upgrade() };
    const back = await asked.browser.decide(asked.page, browser.access);
    const tokens = await exchange(open, { verifier: asked.verifier, back });
    assert.ok(tokens.claims()?.sub);
    assert.equal(tokens.claims()?.auth_time, undefined);
  });

  it("takes a no from any session", async () => {
    const { browser, page } = await ask({ prompt: "login" });
    const back = await browser.decide(page, old, false);
    assert.equal(back.searchParams.get("error"), "access_denied");
  });
}

function refusesRequestsPrograms(): void {
  it("refuses what has no PKCE, or a plain one, and sends that to the program", async () => {
    const { url } = await begin(open);
    const plain = new URL(url);
    plain.searchParams.set("code_challenge_method", "plain");
    const none = new URL(url);
    for (const name of ["code_challenge", "code_challenge_method"]) none.searchParams.delete(name);
    const silent = new URL(url);
    silent.searchParams.delete("code_challenge_method");
    for (const wrong of [plain, none, silent]) {
      const { status, location } = await new Browser(app).request("GET", wrong.href);
      assert.equal(status, 303);
      assert.ok(location?.startsWith(`${redirect}?`), location ?? "");
      assert.equal(new URL(location ?? "").searchParams.get("error"), "invalid_request");
    }
  });

  it("tells a program that asks for nothing, or for another flow, before a player is asked", async () => {
    for (const [more, error] of [
      [{ scope: "" }, "invalid_scope"],
      [{ scope: "admin" }, "invalid_scope"],
      [{ scope: "offline_access" }, "invalid_scope"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: "" }, "invalid_request"],
    ] as const) {
      const { url } = await begin(open, more);
      const { status, location } = await new Browser(app).request("GET", url.href);
      assert.equal(status, 303);
      const back = new URL((location ?? "").replace("#", "?"));
      assert.equal(back.href.split("?")[0], redirect);
      assert.equal(back.searchParams.get("error"), error, JSON.stringify(more));
    }
  });

  it("sends the code in the query and in no other way", async () => {
    for (const mode of ["form_post", "fragment", "web_message", "jwt"]) {
      const { url } = await begin(open, { response_mode: mode });
      const { status, text, location } = await new Browser(app).request("GET", url.href);
      assert.equal(status, 400, mode);
      assert.doesNotMatch(text, /<form/);
      assert.doesNotMatch(location ?? "", /consent/, mode);
      const hidden = `${url.href.replace("state=abc", "state=a?b")}`;
      const { text: shown } = await new Browser(app).request("GET", hidden);
      assert.doesNotMatch(shown, /<form/, `${mode} after a question mark`);
    }
    const { url } = await begin(open, { response_mode: "" });
    assert.ok(await new Browser(app).open(url), "an empty value is none");
  });

  it("sends a program on a device to whatever port it listens on, and no other to another", async () => {
    const at = (port: number, path = "/back") => `http://127.0.0.1:${port}${path}`;
    await addClient("tool", null, ["http://127.0.0.1/back"]);
    await addClient("page", null, [redirect, at(5173)]);
    const opens = async (clientId: string, uri: string) => {
      const config = await discover(app, clientId, client.None());
      const { url } = await begin(config, { redirect_uri: uri });
      return (await new Browser(app).request("GET", url.href)).status === 303;
    };
    assert.ok(await opens("tool", at(40_123)));
    assert.ok(!(await opens("tool", at(40_123, "/other"))));
    assert.ok(await opens("page", at(5173)));
    assert.ok(!(await opens("page", at(5174))));
  });

  it("sends nobody to an address that is not registered letter by letter", async () => {
    for (const wrong of [
      "https://evil.example/back",
      `${redirect}/`,
      `${redirect}?a=1`,
      redirect.toUpperCase(),
      "https://program.example/back/../other",
    ]) {
      const { url } = await begin(open, { redirect_uri: wrong });
      const answer = await new Browser(app).request("GET", url.href);
      assert.deepEqual([answer.status, answer.location], [400, null], wrong);
      assert.doesNotMatch(answer.text, /evil|other/);
    }
    const unknown = (await begin(open)).url;
    unknown.searchParams.set("client_id", "<b>nobody</b>");
    const answer = await new Browser(app).request("GET", unknown.href);
    assert.equal(answer.status, 400);
    assert.doesNotMatch(answer.text, /<b>|nobody/);
  });
}

function givesTokensForCodes(): void {
  it("gives no tokens for a wrong verifier, program or secret", async () => {
    const done = await authorize(confidential);
    const wrong = { ...done, verifier: client.randomPKCECodeVerifier() };
    await assert.rejects(exchange(confidential, wrong), { error: "invalid_grant" });
    await assert.rejects(exchange(open, done), { error: "invalid_grant" });
    const liar = await discover(app, "confidential", client.ClientSecretBasic("another-secret"));
    await assert.rejects(exchange(liar, done), { status: 401 });
    const hashed = client.ClientSecretBasic(hash("sha256", secret));
    await assert.rejects(exchange(await discover(app, "confidential", hashed), done), {
      status: 401,
    });
    assert.ok((await exchange(confidential, done)).access_token);
  });

  it("takes a code once, and voids what came of it when it is shown again", async () => {
    const done = await authorize(open);
    const { access_token: token } = await exchange(open, done);
    await assert.rejects(exchange(open, done), { error: "invalid_grant" });
    await isRefused(token);
  });

  it("lets one of many who show a code at once have tokens, and none keep them", async () => {
    const done = await authorize(open);
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => exchange(open, done)));
    const won = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    assert.ok(won.length <= 1, `${won.length} had tokens`);
    for (const { access_token: token } of won) await isRefused(token);
  });
}

function endsSessions(): void {
  it("ends with a token that the program gives back, and leaves the list of sessions", async () => {
    const own = await registerAccount(app);
    const done = await authorizeAs(own.session.access_token);
    const { access_token: token } = await exchange(open, done);
    await client.tokenRevocation(open, token);
    await isRefused(token);
    const listed = await app.client.get("/v1/users/@me/sessions", {
      headers: tokenOf(own.session),
    });
    const { sessions } = listed.body as { sessions: { is_current: boolean }[] };
    assert.deepEqual(
      sessions.map((one) => one.is_current),
      [true],
    );
  });

  it("is a session for as long as a token of it may live", async () => {
    const own = await registerAccount(app);
    const hours = async (more: Record<string, string>) => {
      const userAgent = "Name of open";
      await exchange(open, await authorizeAs(own.session.access_token, more));
      const { em } = app.deps;
      const where = { player: own.session.player.id, userAgent };
      const last = await em.fork().findOneOrFail(TokenFamilySchema, where, {
        orderBy: { createdAt: "desc" },
      });
      return (last.endsAt.getTime() - Date.now()) / 3_600_000;
    };
    const short = await hours({});
    assert.ok(short > 1 && short < 1.5, String(short));
    const later = await hours({ scope: "openid offline_access", prompt: "consent" });
    assert.ok(later > 179 * 24, String(later));
  });

  it("renews tokens where the player allowed it for later, each refresh token once", async () => {
    const later = { scope: `${scope} offline_access`, prompt: "consent" };
    const first = await exchange(open, await authorize(open, later));
    assert.ok(first.refresh_token);
    const second = await client.refreshTokenGrant(open, first.refresh_token);
    assert.equal((await userinfo(open, second.access_token)).status, 200);
    await assert.rejects(client.refreshTokenGrant(open, first.refresh_token), {
      error: "invalid_grant",
    });
    await isRefused(second.access_token);
  });

  it("is in the player's list of sessions, which ends it", async () => {
    const { access_token: token } = await exchange(open, await authorize(open));
    const listed = await app.client.get("/v1/users/@me/sessions", {
      headers: tokenOf(account.session),
    });
    const { sessions } = listed.body as { sessions: { id: string; user_agent: string }[] };
    const own = sessions.filter((one) => one.user_agent === "Name of open");
    assert.ok(own.length > 0);
    for (const { id } of own) {
      const path = `/v1/users/@me/sessions/${id}`;
      await app.client.delete(path, { headers: tokenOf(account.session) });
    }
    await isRefused(token);
  });

  it("ends with logging out everywhere, a new password and the account", async () => {
    const own = await registerAccount(app);
    let access = own.session.access_token;
    const mine = async () => {
      const { verifier, url } = await begin(open, {
        scope: `${scope} offline_access`,
        prompt: "consent",
      });
      const browser = new Browser(app);
      return exchange(open, {
        verifier,
        back: await browser.decide(await browser.open(url), access),
      });
    };
    const isOver = async ({ access_token: token, refresh_token: refresh = "" }: Tokens) => {
      await isRefused(token);
      await assert.rejects(client.refreshTokenGrant(open, refresh), { error: "invalid_grant" });
    };
    type Tokens = Awaited<ReturnType<typeof mine>>;
    const signIn = async (secretWord: string) => {
      const { body } = await post(app, "/v1/gateway/login", {
        identifier: own.email,
        password: secretWord,
      });
      access = body.access_token;
    };
    const headers = () => ({ authorization: `Bearer ${access}` });

    const first = await mine();
    await app.client.delete("/v1/users/@me/sessions", { headers: headers() });
    await isOver(first);
    await assert.rejects(mine(), /auth:token_invalid/, "nor does that session allow anything new");

    await signIn(password);
    const second = await mine();
    const change = { current_password: password, new_password: "correct horse 2" };
    assert.equal((await post(app, "/v1/users/@me/password", change, headers())).status, 200);
    await isOver(second);

    await signIn("correct horse 2");
    const third = await mine();
    const done = await authorizeAs(access);
    const body = { password: "correct horse 2" };
    await app.client.delete("/v1/users/@me", { body, headers: headers() });
    await isOver(third);
    await assert.rejects(exchange(open, done), { error: "invalid_grant" });
  });

  it("is not allowed by a session that is just being ended", async () => {
    const own = await registerAccount(app);
    const { id } = own.session.player;
    const browser = new Browser(app);
    const page = await browser.open((await begin(open)).url);
    const { em } = app.deps;
    const { allowed } = await em.transactional(async (inner) => {
      await revokeFamiliesOf(inner, id, new Date());
      const body = { is_allowed: true };
      const sent = browser.request("POST", page, { body, bearer: own.session.access_token });
      await untilOneWaits(em);
      return { allowed: sent };
    });
    assert.equal((await allowed).status, 401);
    assert.equal(await countOpenFamilies(em, id, new Date()), 0);
  });
}

function knowsNoSecretsTakes(): void {
  it("keeps no code, token or secret that could be used", async () => {
    const done = await authorize(confidential);
    const code = done.back.searchParams.get("code") ?? "";
    const { access_token: token } = await exchange(confidential, done);
    const keys = await app.deps.redis.keys("oauth:*");
    assert.ok(keys.length > 0);
    for (const key of keys) {
      const kept = `${key} ${await app.deps.redis.get(key)}`;
      for (const word of [code, token, secret]) assert.ok(!kept.includes(word), key);
      assert.ok((await app.deps.redis.ttl(key)) > 0, `${key} has no end`);
    }
  });

  it("knows no program that was revoked or whose realm is closed", async () => {
    await addClient("short-lived", null);
    const config = await discover(app, "short-lived", client.None());
    const { access_token: token } = await exchange(config, await authorize(config));
    await revokeOAuthClient(app.deps.em, "short-lived", new Date());
    await isRefused(token);
    const answer = await new Browser(app).request("GET", (await begin(config)).url.href);
    assert.deepEqual([answer.status, answer.location], [400, null]);
  });

  it("answers nonsense with what the protocol or our envelope says, never with 5xx", async () => {
    const send = (path: string, type: string, body: string) =>
      fetch(`${app.url}${path}`, { method: "POST", headers: { "content-type": type }, body });
    const form = "application/x-www-form-urlencoded";
    for (const path of ["/v1/oauth/token", "/v1/oauth/revoke"])
      for (const [type, body] of [
        [form, ""],
        [form, "grant_type=password&username=a&password=b"],
        [form, "grant_type=authorization_code&code=%00%ff&client_id=open&client_id=open"],
        [form, "a".repeat(60_000)],
        ["application/json", "{}"],
        ["text/plain", "x"],
      ] as const) {
        const { status } = await send(path, type, body);
        assert.ok(status >= 400 && status < 500, `${path} ${type} ${body.slice(0, 40)}: ${status}`);
      }
    assert.equal((await send("/v1/oauth/token", form, "a".repeat(70_000))).status, 413);
    for (const path of [
      "/v1/oauth/authorize",
      "/v1/oauth/authorize?%ff=%00&client_id=%00",
      "/v1/oauth/authorize/abcdefgh12",
      "/v1/oauth/userinfo",
    ]) {
      const { status } = await fetch(`${app.url}${path}`, { redirect: "manual" });
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
    }
  });
}
