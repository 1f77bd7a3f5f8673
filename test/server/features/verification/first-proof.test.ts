import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OauthConnectionSchema } from "../../../../db/entities/oauth-connection.ts";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { RevocationSchema } from "../../../../db/entities/revocation.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { startApp } from "../../../support/app.ts";
import { cookieOf, password, post, tokenOf, uniqueName } from "../../../support/identity.ts";
import { openLink, pressButton } from "../../../support/link-page.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { visitProvider } from "../../../support/oidc-provider.ts";
import { issuer } from "../oauth/browser.ts";
import { begin, openCallback } from "../social/visitor.ts";
import {
  other,
  app,
  callback,
  provider,
  keysPath,
  until,
  register,
  attach,
  login,
  linkTo,
  accessStatuses,
  startsProofApp,
} from "./first-proof-app.ts";

const newPassword = "my own horse 7";

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
  startsProofApp();

  describe("the first verification of an address that another person registered before", () => {
    describe("ends the access of others", () => {
      for (const [name, prove] of Object.entries(proofs))
        it(`by ${name} ends what was attached, on every worker`, async () => {
          const { email, session } = await register();
          const had = await attach(session);
          const { id } = session.player;
          const second = (await login(email)).body;
          for (const at of [app, other])
            assert.deepEqual(await accessStatuses(at, session, had), [200, 200, 200]);
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
                const [access, ...rest] = await accessStatuses(at, one, had);
                return access === 401 && rest.every((status) => status === 401);
              });
          assert.equal((await login(email)).code, "auth:invalid");
          for (const one of [session, second]) {
            const again = await post(app, "/v1/gateway/refresh", {
              refresh_token: one.refresh_token,
            });
            assert.equal(again.code, "auth:refresh_invalid");
          }
          const query = new URLSearchParams({
            passport: had.passport,
            redirect: "http://localhost/",
          });
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
          const startedLogin = await begin(app);
          const social = await openCallback(
            app,
            await visitProvider(startedLogin.url, callback),
            startedLogin.cookie,
          );
          const refreshed = await post(app, "/v1/gateway/refresh", {
            refresh_token: social.refreshToken,
          });
          assert.notEqual(refreshed.body.player.id, id);

          const mine = { token: owner.access_token };
          const { revocations } = (await app.client.get("/v1/users/@me/revocations", mine))
            .body as {
            revocations: { kind: string; label: string | null; reason: string }[];
          };
          assert.ok(revocations.every(({ reason }) => reason === "address_proven"));
          const kinds = revocations.map(({ kind }) => kind).toSorted();
          const all = [
            "api_key",
            "connection",
            "consent",
            "password",
            "phone",
            "session",
            "session",
          ];
          // A reset replaces the password by itself.
          const expected =
            name === "a new password" ? all.filter((one) => one !== "password") : all;
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
          const phone =
            (await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, id)).phone ?? null;
          assert.equal(phone, null);
        });

      it("ends everything attached by a guest who took the address, in any realm", async () => {
        await app.deps.em.fork().insert(RealmSchema, { slug: "elsewhere", name: "Elsewhere" });
        const elsewhere = { "x-realm": "elsewhere" };
        const guest = (await post(app, "/v1/gateway/guest", {}, elsewhere)).body;
        const email = `${uniqueName()}@example.com`;
        const given = { email, password };
        const asGuest = { ...tokenOf(guest), ...elsewhere };
        const registrant = (await post(app, "/v1/gateway/upgrade", given, asGuest)).body;
        const had = await attach(registrant);
        const identified = { identifier: email, password };
        const second = (await post(app, "/v1/gateway/login", identified, elsewhere)).body;
        const signedOut = (await login(email)).body;
        await post(app, "/v1/gateway/logout", undefined, cookieOf(signedOut.refresh_token));
        const { revocations: before } = await revocationsOf(registrant);
        assert.deepEqual(before, []);
        for (const at of [app, other])
          for (const one of [registrant, second, signedOut])
            assert.deepEqual(await accessStatuses(at, one, had), [200, 200, 200]);

        const owner = await proofs["a mailed code"]?.(email);
        assert.ok(owner);
        assert.equal(owner.player.id, guest.player.id);
        for (const at of [app, other])
          for (const one of [registrant, second, signedOut, guest])
            await until("all is refused", async () =>
              (await accessStatuses(at, one, had)).every((status) => status === 401),
            );
        for (const one of [registrant, second]) {
          const again = await post(app, "/v1/gateway/refresh", {
            refresh_token: one.refresh_token,
          });
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
    });
    describe("keeps the owner's access", () => {
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
          assert.deepEqual(await accessStatuses(app, session, had), [200, 200, 200]);
          assert.equal((await login(email)).status, 200);
          const { phone } = await app.deps.orm.em
            .fork()
            .findOneOrFail(PlayerSchema, session.player.id);
          assert.equal(phone, had.phone);
          const mine = { token: answer.body.access_token };
          const { revocations } = (await app.client.get("/v1/users/@me/revocations", mine))
            .body as {
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
        const attackerSession = await app.client.get(`/v1/gateway/customs?${query}`);
        const cookie = attackerSession.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
        const given = { email, code: await codeTo(email) };
        assert.equal((await post(app, "/v1/gateway/code/verify", given, { cookie })).status, 200);
        assert.equal((await login(email)).code, "auth:invalid");
        const victim = await register();
        const registrant = await register();
        const wrong = { email: victim.email, code: await codeTo(victim.email) };
        const headers = tokenOf(registrant.session);
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
        assert.deepEqual(await accessStatuses(app, owner, had), [200, 200, 200]);
        const notices = (await messagesTo(app.deps, email)).filter(
          ({ template }) => template === "address-confirmed",
        );
        assert.equal(notices.length, 1);
      });
    });
  });
});
