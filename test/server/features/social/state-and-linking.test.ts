import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { enter, password, post, registerAccount } from "../../../support/identity.ts";
import { visitProvider } from "../../../support/oidc-provider.ts";
import {
  begin,
  callbackOf,
  openCallback,
  signInWithProvider,
  addProviderUser,
  sessionOf,
} from "./visitor.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { app, now, provider, newAddress, connectionsOf, startsSocialApp } from "./social-app.ts";

describe("the state and the linking of social logins", () => {
  startsSocialApp();

  describe("the state of a social login", () => {
    it("works once, even for many concurrent uses", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: true });
      const startedLogin = await begin(app);
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      const all = await Promise.all(
        Array.from({ length: 8 }, () => openCallback(app, back, startedLogin.cookie)),
      );
      const statuses = all.map(({ status }) => status).toSorted();
      assert.deepEqual(statuses, [302, ...Array<number>(7).fill(400)]);
      for (const one of all)
        if (one.status === 400) assert.ok(one.text.includes("oauth:state_invalid"));
    });

    it("is rejected in another browser, without a browser, and when unknown", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: true });
      const other = await begin(app);
      for (const cookie of [other.cookie, "", "svc_oauth=x"]) {
        const startedLogin = await begin(app);
        const back = await visitProvider(startedLogin.url, callbackOf("acme"));
        assert.equal((await openCallback(app, back, cookie)).status, 400);
      }
      for (const state of ["x", "a".repeat(43)]) {
        const back = new URL(`${callbackOf("acme")}?code=c&state=${state}`);
        assert.equal((await openCallback(app, back, other.cookie)).status, 400);
      }
      assert.equal(
        (await openCallback(app, new URL(callbackOf("acme")), other.cookie)).status,
        400,
      );
    });

    it("is bound to its browser, so a leaked callback address is useless", async () => {
      const path = "/v1/gateway/oauth/acme/callback";
      const { session } = await registerAccount(app);
      const verifier = "v".repeat(43);
      for (const token of [undefined, session.access_token])
        for (const isNative of [false, true]) {
          addProviderUser(provider, { email: newAddress(), email_verified: true });
          const link = token === undefined ? {} : { token };
          const startedLogin = await begin(app, isNative ? { ...link, verifier } : link);
          const otherLogin = await begin(app, { verifier: "w".repeat(43) });
          const back = await visitProvider(startedLogin.url, callbackOf("acme"));
          const read = Object.fromEntries(back.searchParams);
          const wrong = { code_verifier: "w".repeat(43) };
          const tries: [body: object, headers: Record<string, string>][] = [
            [{}, {}],
            [{}, { cookie: otherLogin.cookie }],
            [wrong, {}],
            [wrong, { cookie: startedLogin.cookie }],
          ];
          // A browser started without a challenge, so no verifier can match.
          if (!isNative) tries.push([{ code_verifier: verifier }, {}]);
          for (const [body, headers] of tries) {
            const answer = await post(app, path, { ...read, ...body }, headers);
            assert.deepEqual([answer.status, answer.code], [400, "oauth:state_invalid"]);
            assert.equal(answer.headers.get("set-cookie"), null);
          }
          const own = isNative ? { code_verifier: verifier } : {};
          const headers: Record<string, string> = isNative ? {} : { cookie: startedLogin.cookie };
          assert.equal((await post(app, path, { ...read, ...own }, headers)).status, 200);
          if (token !== undefined)
            await app.client.delete("/v1/users/@me/connections/acme", { token });
        }
    });

    it("requires a challenge in the format that a verifier can match", async () => {
      for (const query of ["code_challenge=x", `code_challenge=${"a".repeat(44)}`]) {
        const answer = await app.client.get(
          `/v1/gateway/oauth/acme/url?redirect=http://localhost:5173/&${query}`,
        );
        assert.equal(answer.status, 400, query);
      }
      const plain = `code_challenge=${"a".repeat(43)}&code_challenge_method=plain`;
      const path = `/v1/gateway/oauth/acme/url?redirect=http://localhost:5173/&${plain}`;
      assert.equal((await app.client.get(path)).status, 400);
    });

    it("is not consumed by HEAD or prefetch, and expires after ten minutes", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: true });
      const startedLogin = await begin(app);
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      const headers = { cookie: startedLogin.cookie };
      const target = back.pathname + back.search;
      assert.equal((await app.client.head(target, { headers })).status, 400);
      for (const [name, value] of [
        ["sec-purpose", "prefetch;prerender"],
        ["purpose", "prefetch"],
        ["x-moz", "prefetch"],
      ] as const) {
        const ahead = { headers: { ...headers, [name]: value } };
        assert.equal((await app.client.get(target, ahead)).status, 400);
      }
      for (const key of await app.deps.redis.keys("oauth:*")) {
        assert.ok(!key.includes(startedLogin.state));
        const left = await app.deps.redis.ttl(key);
        assert.ok(left > 0 && left <= 600);
      }
      assert.equal((await openCallback(app, back, startedLogin.cookie)).error, null);
    });

    it("is created only for known providers, allowed redirects and callers who may link", async () => {
      const guest = await enter(app);
      const url = (query: string, id = "acme") => `/v1/gateway/oauth/${id}/url${query}`;
      const cases: [path: string, token: string | null, status: number, code: string][] = [
        [url("", "other"), null, 404, "oauth:provider_unknown"],
        [url("", "A"), null, 404, "oauth:provider_unknown"],
        [url("?redirect=https://evil.example"), null, 400, "sso:redirect_invalid"],
        [url("?mode=steal"), null, 400, "request:invalid_query"],
        [url("?mode=link"), null, 401, "auth:required"],
        [url("?mode=link"), "x", 401, "auth:required"],
        [url("?mode=link"), guest.access_token, 403, "auth:forbidden"],
      ];
      for (const [path, token, status, code] of cases) {
        const answer = await app.client.get(path, token === null ? {} : { token });
        assert.equal(answer.status, status, path);
        assert.ok(answer.text.includes(code), path);
      }
    });
  });
  describe("linking a social login", () => {
    it("adds it to the account, opens no other session, and allows sign-in from then on", async () => {
      const { session } = await registerAccount(app);
      addProviderUser(provider, { email: newAddress(), email_verified: true, name: "Link" });
      const token = session.access_token;
      const returned = await signInWithProvider(app, { token });
      assert.deepEqual([returned.error, returned.refreshToken], [null, null]);
      assert.equal((await connectionsOf(token)).length, 1);
      assert.equal((await signInWithProvider(app, { token })).error, null, "again changes nothing");
      assert.equal(
        (await sessionOf(app, await signInWithProvider(app))).player.id,
        session.player.id,
      );
    });

    it("is refused for a login of another account, and for a second login of one provider", async () => {
      const one = (await registerAccount(app)).session.access_token;
      const two = (await registerAccount(app)).session.access_token;
      addProviderUser(provider, {});
      assert.equal((await signInWithProvider(app, { token: one })).error, null);
      assert.equal((await signInWithProvider(app, { token: two })).error, "oauth:already_linked");
      addProviderUser(provider, {});
      assert.equal((await signInWithProvider(app, { token: one })).error, "oauth:already_linked");
      assert.equal((await connectionsOf(two)).length, 0);
    });

    it("is neither started nor finished by an ended session", async () => {
      const { session } = await registerAccount(app);
      addProviderUser(provider, {});
      const token = session.access_token;
      const startedLogin = await begin(app, { token });
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      assert.equal((await app.client.delete("/v1/users/@me/sessions", { token })).status, 204);
      assert.equal(
        (await openCallback(app, back, startedLogin.cookie)).error,
        "auth:token_invalid",
      );
      await assert.rejects(begin(app, { token }), /auth:token_invalid/);
      assert.equal((await connectionsOf(token)).length, 0);
    });

    it("is reversible unless no other sign-in method is left", async () => {
      const path = "/v1/users/@me/connections/acme";
      const { session } = await registerAccount(app);
      addProviderUser(provider, {});
      const token = session.access_token;
      assert.equal((await app.client.delete(path, { token })).status, 404);
      await signInWithProvider(app, { token });
      assert.equal((await app.client.delete(path, { token })).status, 204);
      assert.equal((await connectionsOf(token)).length, 0);
      const made = await sessionOf(app, await signInWithProvider(app));
      assert.notEqual(made.player.id, session.player.id);
      const refused = await app.client.delete(path, { token: made.access_token });
      assert.equal(refused.status, 409);
      assert.ok(refused.text.includes("oauth:last_credential"));
      const guest = await enter(app);
      for (const [method, address] of [
        ["GET", "/v1/users/@me/connections"],
        ["DELETE", path],
      ] as const) {
        const asGuest = await app.client.request(method, address, { token: guest.access_token });
        assert.equal(asGuest.status, 403);
        assert.equal((await app.client.request(method, address)).status, 401);
      }
    });
  });
  describe("a linked or removed social login", () => {
    const notices = async (to: string) =>
      (await messagesTo(app.deps, to)).map(({ template }) => template).slice(1);
    const age = (token: string, ms: number) => {
      const { fam = "" } = app.deps.tokens.verify("access", token) ?? {};
      const createdAt = new Date(now - ms);
      return app.deps.orm.em.fork().nativeUpdate(TokenFamilySchema, { id: fam }, { createdAt });
    };

    it("needs a recent sign-in or a proof when it starts, not when it ends", async () => {
      const { token } = await verifiedAccount();
      addProviderUser(provider, {});
      await age(token, 600_001);
      await assert.rejects(
        begin(app, { token }),
        /auth:proof_required.*"proofs":\["password","code"\]/,
      );
      await age(token, 600_000);
      const startedLogin = await begin(app, { token });
      await age(token, 600_001);
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      assert.equal((await openCallback(app, back, startedLogin.cookie)).error, null);
      assert.equal((await connectionsOf(token)).length, 1);
      await assert.rejects(begin(app, { token }), /auth:proof_required/);
      const body = { password };
      assert.equal((await app.client.post("/v1/users/@me/proof", { token, body })).status, 200);
      await begin(app, { token });
    });

    it("is a recent sign-in itself, also for an account without any proof", async () => {
      addProviderUser(provider, {});
      const { access_token: token } = await sessionOf(app, await signInWithProvider(app));
      const change = () =>
        app.client.patch("/v1/users/@me", { token, body: { email: newAddress() } });
      await age(token, 600_001);
      const refused = await change();
      assert.match(refused.text, /auth:proof_required.*"proofs":\[\]/);
      await age(token, 600_000);
      assert.equal((await change()).status, 200);
    });

    it("is mailed to the verified address, once", async () => {
      const { email, token } = await verifiedAccount();
      addProviderUser(provider, {});
      for (let n = 0; n < 2; n++) await signInWithProvider(app, { token });
      await signInWithProvider(app);
      assert.deepEqual(await notices(email), ["login-linked"]);
      const { content } = await sentMessage(app.deps, email, "login-linked");
      assert.match(content.text, /Acme Games/);
      await app.client.delete("/v1/users/@me/connections/acme", { token });
      assert.deepEqual(await notices(email), ["login-linked", "login-unlinked"]);
      const byAddress = await verifiedAccount();
      addProviderUser(provider, { email: byAddress.email, email_verified: true });
      for (let n = 0; n < 2; n++)
        assert.equal(
          (await signInWithProvider(app)).error,
          null,
          "joins the account of the address",
        );
      assert.deepEqual(await notices(byAddress.email), ["login-linked"]);
    });

    it("makes no account of an address that is reserved", async () => {
      const { email, token } = await verifiedAccount();
      const body = { email: newAddress() };
      assert.equal((await app.client.patch("/v1/users/@me", { token, body })).status, 200);
      for (const email_verified of [true, false]) {
        addProviderUser(provider, { email, email_verified });
        assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
      }
    });
  });
});

/** An account with a verified address. */
async function verifiedAccount() {
  const { email, session } = await registerAccount(app);
  const em = app.deps.orm.em.fork();
  const verified = { emailVerifiedAt: new Date(now) };
  await em.nativeUpdate(PlayerSchema, { id: session.player.id }, verified);
  return { email, session, token: session.access_token };
}
