import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as client from "openid-client";
import { OauthConnectionSchema } from "../../../../db/entities/oauth-connection.ts";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { RevocationSchema } from "../../../../db/entities/revocation.ts";
import { insertOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { startApp, type App } from "../../../support/app.ts";
import { cookieOf, password, post, tokenOf, uniqueName } from "../../../support/identity.ts";
import { openLink, pressButton } from "../../../support/link-page.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import {
  startTestProvider,
  visitProvider,
  type TestProvider,
} from "../../../support/oidc-provider.ts";
import { Browser, discover, issuer } from "../oauth/browser.ts";
import { begin, comeBack, person } from "../social/visitor.ts";

const redirect = "https://program.example/back";
const callback = `${issuer}/v1/gateway/oauth/acme/callback`;
const keysPath = "/v1/realms/gamedata/keys";
const newPassword = "my own horse 7";
let app: App;

/** Another worker on the same stores. */
let other: App;
let provider: TestProvider;
let program: client.Configuration;
let phones = 0;

async function until(what: string, isSo: () => Promise<boolean>, limitMs = 5_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** Registers an address with the headers of a browser. */
async function register() {
  const username = uniqueName();
  const email = `${username}@example.com`;
  const agent = { "user-agent": "Stranger/1.0 <b>" };
  const answer = await post(app, "/v1/users", { email, username, password }, agent);
  assert.equal(answer.status, 201);
  const device = answer.headers.getSetCookie().find((line) => line.startsWith("svc_device="));
  return { email, session: answer.body, device: device?.split(";", 1)[0] ?? "" };
}

/** Attachments that a session adds to its account: a number, a key, a linked login, a consent, a passport. */
async function attach(session: SessionBody) {
  const token = session.access_token;
  const phone = `+4915200${String(100_000 + (phones += 1))}`;
  await app.client.post("/v1/users/@me/phone", { token, body: { phone } });
  const { code } = (await sentMessage(app.deps, phone, "phone-code")).content;
  const verified = await app.client.post("/v1/users/@me/phone/verify", { token, body: { code } });
  assert.equal(verified.status, 200);
  const made = await app.client.post(keysPath, { token, body: { name: "Mine", scopes: ["*"] } });
  const { plaintext } = made.body as { plaintext: string };
  const subject = person(provider, {});
  const begun = await begin(app, { token });
  const linked = await comeBack(app, await visitProvider(begun.url, callback), begun.cookie);
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

type Attached = Awaited<ReturnType<typeof attach>>;

const login = (email: string, given = password) =>
  post(app, "/v1/gateway/login", { identifier: email, password: given });

async function codeTo(email: string): Promise<string> {
  const known = (await messagesTo(app.deps, email)).filter(
    (one) => one.template === "sign-in-code",
  );
  await post(app, "/v1/gateway/code/request", { email });
  const sent = await sentMessage(app.deps, email, "sign-in-code", known.length);
  return sent.content.code ?? "";
}

async function resetTokenTo(email: string): Promise<string> {
  const known = (await messagesTo(app.deps, email)).filter(
    (one) => one.template === "reset-password",
  );
  await post(app, "/v1/gateway/reset-password/request", { email });
  const sent = await sentMessage(app.deps, email, "reset-password", known.length);
  return new URL(sent.content.links[0] ?? "").searchParams.get("token") ?? "";
}

const revocationsOf = async (session: SessionBody) =>
  (await app.client.get("/v1/users/@me/revocations", { token: session.access_token })).body as {
    revocations: { kind: string }[];
  };

const linkTo = async (email: string) =>
  (await sentMessage(app.deps, email, "verify-email")).content.links[0] ?? "";

/** Whether each attachment still grants access, on the given worker. */
async function works(at: App, session: SessionBody, had: Attached) {
  const authorization = `Bearer ${had.granted.access_token}`;
  const [access, key, consent] = [
    await at.client.get("/v1/users/@me", { token: session.access_token }),
    await at.client.get("/v1/wallet/@me", { headers: { "x-api-key": had.plaintext } }),
    await fetch(`${at.url}/v1/oauth/userinfo`, { headers: { authorization } }),
  ];
  return [access, key, consent].map(({ status }) => status);
}

/** Ways in which the owner of an address verifies it first, from another browser; each ends signed in. */
const proofs: Record<string, (email: string) => Promise<SessionBody>> = {
  "a new password": async (email) => {
    const given = { token: await resetTokenTo(email), password: newPassword };
    assert.equal((await post(app, "/v1/gateway/reset-password", given)).status, 200);
    return (await login(email, newPassword)).body;
  },
  "a mailed code": async (email) => {
    const given = { email, code: await codeTo(email) };
    const answer = await post(app, "/v1/gateway/code/verify", given);
    assert.equal(answer.status, 200);
    return answer.body;
  },
  "a no to the link": async (email) => {
    const page = await openLink(app, await linkTo(email));
    const next = new URL(await pressButton(app, page, "no"));
    assert.equal(next.origin + next.pathname, `${issuer}/reset-password`);
    assert.match(await pressButton(app, page, "no"), /code=invalid_arguments$/);
    assert.equal((await login(email)).code, "auth:invalid");
    const given = { token: next.searchParams.get("token"), password: newPassword };
    assert.equal((await post(app, "/v1/gateway/reset-password", given)).status, 200);
    return (await login(email, newPassword)).body;
  },
};

describe("first verifications of an address", () => {
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

  describe(
    "the first verification of an address that another person registered before",
    firstProofAddressSomebody,
  );
  describe("a verification link", verificationLink);
});

function firstProofAddressSomebody(): void {
  describe("ends the access of others", endsWhatOthersHad);
  describe("keeps the owner's access", leavesWhatOwn);
}

function endsWhatOthersHad(): void {
  for (const [name, prove] of Object.entries(proofs))
    it(`by ${name} ends what was attached, on every worker`, async () => {
      const { email, session } = await register();
      const had = await attach(session);
      const { id } = session.player;
      const second = (await login(email)).body;
      for (const at of [app, other])
        assert.deepEqual(await works(at, session, had), [200, 200, 200]);
      const award = { award_id: "id.award.welcome", game: "platform" };
      const token = session.access_token;
      await app.client.post("/v1/embers/@me/awards", { token, body: award });
      const reset = await resetTokenTo(email);

      const owner = await prove(email);
      assert.equal(owner.player.id, id);
      assert.equal(owner.player.name, session.player.name);
      assert.ok(owner.player.email_verified_at);
      for (const at of [app, other])
        for (const one of [session, second])
          await until("all is refused", async () => {
            const [access, ...rest] = await works(at, one, had);
            return access === 401 && rest.every((status) => status === 401);
          });
      assert.equal((await login(email)).code, "auth:invalid");
      for (const one of [session, second]) {
        const again = await post(app, "/v1/gateway/refresh", { refresh_token: one.refresh_token });
        assert.equal(again.code, "auth:refresh_invalid");
      }
      const query = new URLSearchParams({ passport: had.passport, redirect: "http://localhost/" });
      const there = await app.client.get(`/v1/gateway/customs?${query.toString()}`);
      assert.equal(there.status, 401);
      for (const [path, body] of [
        ["/v1/gateway/reset-password", { token: reset, password: "a stranger 99" }],
        [
          "/v1/users/email/verify",
          { token: new URL(await linkTo(email)).searchParams.get("token") },
        ],
      ] as const)
        assert.equal((await post(app, path, body)).code, "auth:token_invalid");
      await post(app, "/v1/gateway/code/request", { email, channel: "sms" });
      await codeTo(email);
      const texts = await messagesTo(app.deps, had.phone);
      assert.deepEqual(
        texts.filter((one) => one.template === "sign-in-code-sms"),
        [],
      );
      provider.signsIn = had.subject;
      const begun = await begin(app);
      const social = await comeBack(app, await visitProvider(begun.url, callback), begun.cookie);
      const refreshed = await post(app, "/v1/gateway/refresh", {
        refresh_token: social.refreshToken,
      });
      assert.notEqual(refreshed.body.player.id, id);

      const mine = { token: owner.access_token };
      const { revocations } = (await app.client.get("/v1/users/@me/revocations", mine)).body as {
        revocations: { kind: string; label: string | null; reason: string }[];
      };
      assert.ok(revocations.every(({ reason }) => reason === "address_proven"));
      const kinds = revocations.map(({ kind }) => kind).toSorted();
      const all = ["api_key", "connection", "consent", "password", "phone", "session", "session"];
      // A reset replaces the password by itself.
      const expected = name === "a new password" ? all.filter((one) => one !== "password") : all;
      assert.deepEqual(kinds, expected);
      assert.ok(!JSON.stringify(revocations).includes(had.phone));
      const listed = (await app.client.get(keysPath, mine)).body as {
        keys: { revoked_at: string | null; revoked_reason?: string }[];
      };
      assert.deepEqual(
        listed.keys.map((key) => [key.revoked_at !== null, key.revoked_reason]),
        [[true, "address_proven"]],
      );
      const links = await app.deps.orm.em.fork().find(OauthConnectionSchema, { player: id });
      assert.deepEqual(links, []);
      const kept = await app.deps.orm.em
        .fork()
        .find(RevocationSchema, { player: id, kind: "connection" });
      assert.deepEqual(
        kept.map((one) => [one.label, one.reason, typeof one.subject]),
        [["acme", "address_proven", "string"]],
      );
      const wallet = (await app.client.get("/v1/embers/@me", mine)).body;
      assert.match(JSON.stringify(wallet), /"balance":10\b/);
      const notice = await sentMessage(app.deps, email, "address-confirmed");
      assert.match(notice.content.text, /linked logins/);
      const phone = (await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, id)).phone ?? null;
      assert.equal(phone, null);
    });

  it("ends everything attached by a guest who took the address, in any realm", async () => {
    await app.deps.em.fork().insert(RealmSchema, { slug: "elsewhere", name: "Elsewhere" });
    const elsewhere = { "x-realm": "elsewhere" };
    const guest = (await post(app, "/v1/gateway/guest", {}, elsewhere)).body;
    const email = `${uniqueName()}@example.com`;
    const given = { email, password };
    const asGuest = { ...tokenOf(guest), ...elsewhere };
    const stranger = (await post(app, "/v1/gateway/upgrade", given, asGuest)).body;
    const had = await attach(stranger);
    const identified = { identifier: email, password };
    const second = (await post(app, "/v1/gateway/login", identified, elsewhere)).body;
    const signedOut = (await login(email)).body;
    await post(app, "/v1/gateway/logout", undefined, cookieOf(signedOut.refresh_token));
    const { revocations: before } = await revocationsOf(stranger);
    assert.deepEqual(before, []);
    for (const at of [app, other])
      for (const one of [stranger, second, signedOut])
        assert.deepEqual(await works(at, one, had), [200, 200, 200]);

    const owner = await proofs["a mailed code"]?.(email);
    assert.ok(owner);
    assert.equal(owner.player.id, guest.player.id);
    for (const at of [app, other])
      for (const one of [stranger, second, signedOut, guest])
        await until("all is refused", async () =>
          (await works(at, one, had)).every((status) => status === 401),
        );
    for (const one of [stranger, second]) {
      const again = await post(app, "/v1/gateway/refresh", { refresh_token: one.refresh_token });
      assert.equal(again.code, "auth:refresh_invalid");
    }
    const { reclaim_token: reclaimToken } = guest;
    const reclaimed = await post(app, "/v1/gateway/guest", { reclaimToken });
    assert.equal(reclaimed.code, "auth:token_invalid");
    const { revocations } = await revocationsOf(owner);
    const kinds = revocations.map(({ kind }) => kind).toSorted();
    assert.deepEqual(kinds, [
      ...["api_key", "connection", "consent", "password", "phone", "session", "session"],
    ]);
    // A process that starts later reads the same.
    const env = { DATABASE_URL: app.stores.databaseUrl, REDIS_URL: app.stores.redisUrl };
    const later = await startApp({ env, hasJobs: false });
    try {
      const { access_token: token } = signedOut;
      const asked = () => later.client.get("/v1/users/@me", { token });
      await until("read", async () => (await asked()).status === 401);
    } finally {
      await later.stop();
    }
  });
}

function leavesWhatOwn(): void {
  it("keeps the logins and sessions that belong to the verifying session", async () => {
    for (const headers of [
      (session: SessionBody) => tokenOf(session),
      (session: SessionBody) => cookieOf(session.refresh_token),
    ]) {
      const { email, session } = await register();
      const had = await attach(session);
      const second = (await login(email)).body;
      const key = { name: "Theirs", scopes: ["*"] };
      await app.client.post(keysPath, { token: second.access_token, body: key });
      const given = { email, code: await codeTo(email) };
      const answer = await post(app, "/v1/gateway/code/verify", given, headers(session));
      assert.equal(answer.status, 200);
      assert.deepEqual(await works(app, session, had), [200, 200, 200]);
      assert.equal((await login(email)).status, 200);
      const { phone } = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
      assert.equal(phone, had.phone);
      const mine = { token: answer.body.access_token };
      const { revocations } = (await app.client.get("/v1/users/@me/revocations", mine)).body as {
        revocations: { kind: string; label: string }[];
      };
      const kinds = revocations.map(({ kind }) => kind).toSorted();
      assert.deepEqual(kinds, ["api_key", "session"]);
      assert.match(revocations.find(({ kind }) => kind === "api_key")?.label ?? "", /^Theirs/);
    }
  });

  it("accepts no passport and no session of another account as the verifying session", async () => {
    const { email, session } = await register();
    const token = session.access_token;
    const { passport } = (await app.client.get("/v1/tokens/passport", { token })).body as {
      passport: string;
    };
    const query = new URLSearchParams({ passport, redirect: "http://localhost/" }).toString();
    const planted = await app.client.get(`/v1/gateway/customs?${query}`);
    const cookie = planted.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    const given = { email, code: await codeTo(email) };
    assert.equal((await post(app, "/v1/gateway/code/verify", given, { cookie })).status, 200);
    assert.equal((await login(email)).code, "auth:invalid");
    const victim = await register();
    const stranger = await register();
    const wrong = { email: victim.email, code: await codeTo(victim.email) };
    const headers = tokenOf(stranger.session);
    assert.equal((await post(app, "/v1/gateway/code/verify", wrong, headers)).status, 200);
    assert.equal((await login(victim.email)).code, "auth:invalid");
  });

  it("happens once: later codes and passwords end only what they always end", async () => {
    const { email } = await register();
    const owner = await proofs["a mailed code"]?.(email);
    assert.ok(owner);
    const had = await attach(owner);
    const again = { email, code: await codeTo(email) };
    assert.equal((await post(app, "/v1/gateway/code/verify", again)).status, 200);
    assert.deepEqual(await works(app, owner, had), [200, 200, 200]);
    const notices = (await messagesTo(app.deps, email)).filter(
      ({ template }) => template === "address-confirmed",
    );
    assert.equal(notices.length, 1);
  });
}

function verificationLink(): void {
  const state = (session: SessionBody) =>
    app.client.get("/v1/users/@me", { token: session.access_token });

  it("ends nothing where the address was registered, or in a session of the account", async () => {
    for (const where of ["device", "cookie", "bearer"] as const) {
      const { email, session, device } = await register();
      const had = await attach(session);
      const second = (await login(email)).body;
      const headers: Record<string, string> = {
        device: { cookie: device },
        cookie: cookieOf(second.refresh_token),
        bearer: tokenOf(second),
      }[where];
      const page = await openLink(app, await linkTo(email), headers);
      assert.deepEqual(page.answers, ["yes"], where);
      assert.doesNotMatch(page.html, /Stranger/);
      assert.equal(await pressButton(app, page, "yes", headers), "/status/verify?result=success");
      assert.deepEqual(await works(app, session, had), [200, 200, 200]);
      assert.match((await state(second)).text, /"email_verified_at":"/);
    }
  });

  it("asks elsewhere who created the account, with time and place, and accepts a confirmation", async () => {
    const { email, session } = await register();
    const other = await register();
    for (const headers of [
      {},
      { cookie: other.device },
      cookieOf(other.session.refresh_token),
      { cookie: "svc_device=; svc_refresh=x" },
    ] as Record<string, string>[]) {
      const page = await openLink(app, await linkTo(email), headers);
      assert.deepEqual(page.answers, ["yes", "no"]);
      for (const shown of [
        email,
        session.player.name,
        "127.0.0.1",
        "Stranger/1.0 &lt;b&gt;",
        new Date().toISOString().slice(0, 10),
      ])
        assert.ok(page.html.includes(shown), shown);
      assert.doesNotMatch(page.html, /<script|<b>/);
    }
    const page = await openLink(app, await linkTo(email));
    assert.equal(await pressButton(app, page, "yes"), "/status/verify?result=success");
    assert.equal((await login(email)).status, 200);
    const known = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
    assert.deepEqual([known.addressIp, known.addressAgent], [null, null]);
  });

  it("uses the client's language", async () => {
    const { email } = await register();
    const page = await openLink(app, await linkTo(email), { "accept-language": "de" });
    assert.match(page.html, /Warst du das\?/);
  });

  it("reports an address that was entered later, and a denial revokes everything before it", async () => {
    const { email, session } = await register();
    const link = await linkTo(email);
    await pressButton(app, await openLink(app, link), "yes");
    const victim = `${uniqueName()}@example.com`;
    const token = session.access_token;
    const changed = await app.client.patch("/v1/users/@me", { token, body: { email: victim } });
    assert.equal(changed.status, 200);
    const page = await openLink(app, await linkTo(victim));
    assert.deepEqual(page.answers, ["yes", "no"]);
    assert.match(await pressButton(app, page, "no"), /\/reset-password\?token=/);
    assert.equal((await login(victim)).code, "auth:invalid");
    await until("the access token is refused", async () => (await state(session)).status === 401);
  });
}
