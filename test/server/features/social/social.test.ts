import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EntityManager } from "@mikro-orm/postgresql";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { lockAccount } from "../../../../db/queries/accounts/accounts.ts";
import {
  deleteConnection,
  saveConnection,
} from "../../../../db/queries/social/oauth-connections.ts";
import { post, registerAccount } from "../../../support/identity.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { visitProvider } from "../../../support/oidc-provider.ts";
import {
  begin,
  callbackOf,
  openCallback,
  signInWithProvider,
  addProviderUser,
  sessionOf,
} from "./visitor.ts";
import {
  app,
  reportingProvider,
  now,
  provider,
  newAddress,
  connectionsOf,
  startsSocialApp,
} from "./social-app.ts";

const verifyEmail = (id: number) =>
  app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id }, { emailVerifiedAt: new Date(now) });

describe("a social login", () => {
  startsSocialApp();

  describe("creates accounts", () => {
    it("is listed, and its address contains PKCE, state and nonce", async () => {
      const list = await app.client.get("/v1/gateway/oauth/providers");
      assert.deepEqual(list.body, {
        providers: [
          { id: "acme", name: "Acme Games" },
          { id: "told", name: "Told" },
        ],
      });
      const startedLogin = await begin(app);
      const query = new URL(startedLogin.url).searchParams;
      assert.equal(query.get("code_challenge_method"), "S256");
      assert.equal(query.get("redirect_uri"), callbackOf("acme"));
      assert.equal(query.get("state"), startedLogin.state);
      assert.ok(query.get("nonce") && query.get("code_challenge"));
      assert.match(startedLogin.cookie, /^svc_oauth=[\w-]{43}$/);
      const again = await app.client.get(
        "/v1/gateway/oauth/acme/url?redirect=http://localhost:5173/",
      );
      const [, ...attributes] = (again.headers.get("set-cookie") ?? "").split("; ");
      assert.deepEqual(attributes.toSorted(), [
        "HttpOnly",
        "Max-Age=600",
        "Path=/v1/gateway/oauth",
        "SameSite=Lax",
        "Secure",
      ]);
    });

    it("creates an account for a verified address, and finds it again after the address changes", async () => {
      const email = newAddress();
      const picture = "https://cdn.acme.example/a.png";
      const subject = addProviderUser(provider, {
        email,
        email_verified: true,
        name: "Zoë 🌞 Doe",
        picture,
      });
      const first = await signInWithProvider(app);
      assert.equal(first.status, 302);
      assert.equal(first.location?.href, "http://localhost:5173/in?x=1");
      const { player, access_token: token } = await sessionOf(app, first);
      assert.equal(player.email, email);
      assert.ok(player.email_verified_at);
      assert.match(player.username ?? "", /^[A-Za-z0-9_]{3,13}_\d{6}$/);
      assert.equal(player.display_name, "Zoë 🌞 Doe");
      provider.people.set(subject, { email: newAddress(), email_verified: true, name: "Zoë" });
      assert.equal((await sessionOf(app, await signInWithProvider(app))).player.id, player.id);
      const [connection] = await connectionsOf(token);
      assert.deepEqual(connection && { ...connection, linked_at: "" }, {
        provider: "acme",
        name: "Zoë",
        avatar_url: null,
        linked_at: "",
      });
    });

    it("does not adopt a provider's name that is invalid here, but still signs the player in", async () => {
      const someone = (claims: Record<string, unknown>) =>
        addProviderUser(provider, { email: newAddress(), email_verified: true, ...claims });
      const shown = async () => (await sessionOf(app, await signInWithProvider(app))).player;
      for (const name of ["Gr\u0430ce", "\u2800", "\u0301", "a\u202eb"]) {
        someone({ name });
        const player = await shown();
        assert.equal(player.display_name, player.username, JSON.stringify(name));
      }
    });
  });
  describe("joins accounts safely", () => {
    it("joins an account only when both sides have verified the address", async () => {
      const cases: [ours: boolean, theirs: boolean, isLinked: boolean][] = [
        [true, true, true],
        [false, true, false],
        [true, false, false],
        [false, false, false],
      ];
      for (const [ours, theirs, isLinked] of cases) {
        const { email, session } = await registerAccount(app);
        if (ours) await verifyEmail(session.player.id);
        addProviderUser(provider, { email: email.toUpperCase(), email_verified: theirs });
        const returned = await signInWithProvider(app);
        assert.equal(returned.status, 302);
        assert.equal(returned.error, isLinked ? null : "oauth:already_linked");
        assert.equal(returned.refreshToken !== null, isLinked);
        if (isLinked) assert.equal((await sessionOf(app, returned)).player.id, session.player.id);
      }
    });

    it("treats an address as verified only when the provider says so for that address", async () => {
      const { email, session } = await registerAccount(app);
      await verifyEmail(session.player.id);
      const own = { email: newAddress(), email_verified: true };
      addProviderUser(provider, { email, name: "Ada", token: own });
      assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
      addProviderUser(provider, { email_verified: true, name: "Ada", token: { email } });
      assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
    });

    it("treats two spellings as one address only when both belong to one mailbox", async () => {
      const { email, session } = await registerAccount(app);
      await verifyEmail(session.player.id);
      const [first, rest] = [email.slice(0, 1), email.slice(1)];
      const wide = String.fromCharCode(first.charCodeAt(0) + 0xfee0);
      addProviderUser(provider, { email: `${wide}${rest}`, email_verified: true });
      assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
      addProviderUser(provider, { email: email.replace("@", "＠"), email_verified: true });
      const { player } = await sessionOf(app, await signInWithProvider(app));
      assert.equal(player.id, session.player.id);
    });

    it("of an unverified or missing address creates an account without a verified address", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: false });
      const unverified = await sessionOf(app, await signInWithProvider(app));
      assert.equal(unverified.player.email_verified_at, null);
      addProviderUser(provider, {});
      const without = await sessionOf(app, await signInWithProvider(app));
      assert.equal(without.player.email, null);
    });
  });
  describe("creates one account", () => {
    it("creates one account for two concurrent sign-ins of the same person", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: true, name: "Twin" });
      const sessions = await Promise.all(
        [1, 2, 3, 4].map(async () => sessionOf(app, await signInWithProvider(app))),
      );
      assert.equal(new Set(sessions.map(({ player }) => player.id)).size, 1);
    });

    it("creates one account for two concurrent sign-ins of a person without an address", async () => {
      const { em } = app.deps;
      const subject = addProviderUser(provider, {});
      const { session } = await registerAccount(app);
      const { id: playerId } = session.player;
      const { second } = await em.transactional(async (inner) => {
        const connection = { provider: "acme", subject, playerId, name: null, avatarUrl: null };
        await saveConnection(inner, connection, new Date(now));
        const sent = signInWithProvider(app);
        await untilOneWaits(em);
        return { second: sent };
      });
      assert.equal((await sessionOf(app, await second)).player.id, playerId);
    });
  });
  describe("is refused or reported", () => {
    it("opens no session when the link or the shared address is removed during the sign-in", async () => {
      const { em } = app.deps;
      const changes: ((inner: EntityManager, playerId: number) => Promise<unknown>)[] = [
        (inner, playerId) => deleteConnection(inner, { playerId, provider: "acme" }),
        (inner, id) => inner.nativeUpdate(PlayerSchema, { id }, { email: null, emailKey: null }),
      ];
      for (const [at, change] of changes.entries()) {
        const { email, session } = await registerAccount(app);
        const { id } = session.player;
        await verifyEmail(id);
        addProviderUser(provider, at === 0 ? {} : { email, email_verified: true });
        if (at === 0) await signInWithProvider(app, { token: session.access_token });
        const { signedIn } = await em.transactional(async (inner) => {
          await lockAccount(inner, id);
          const sent = signInWithProvider(app);
          await untilOneWaits(em);
          await change(inner, id);
          return { signedIn: sent };
        });
        assert.equal((await signedIn).error, "oauth:already_linked");
        assert.equal((await connectionsOf(session.access_token)).length, 0);
      }
    });

    it("of a closed account opens no session", async () => {
      const email = newAddress();
      addProviderUser(provider, { email, email_verified: true });
      const { player } = await sessionOf(app, await signInWithProvider(app));
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: player.id }, { deletedAt: new Date(now) });
      assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
      addProviderUser(provider, { email, email_verified: true });
      assert.equal((await signInWithProvider(app)).error, "oauth:already_linked");
    });

    it("has the sign-in time that the provider reports, if it reports one", async () => {
      const methods = async (id: number) =>
        (await app.deps.orm.em.fork().find(TokenFamilySchema, { player: id })).map((one) => [
          one.method,
          one.authenticatedAt,
        ]);
      addProviderUser(provider, { email: newAddress(), email_verified: true });
      const silent = await sessionOf(app, await signInWithProvider(app));
      assert.deepEqual(await methods(silent.player.id), [["social", null]]);
      const at = Math.floor(now / 1_000) - 86_400;
      for (const [said, kept] of [
        [at, new Date(at * 1_000)],
        [at + 2 * 86_400, new Date(now)],
      ] as const) {
        reportingProvider.signedInAt = said;
        addProviderUser(reportingProvider, { email: newAddress(), email_verified: true });
        const reported = await sessionOf(app, await signInWithProvider(app, { provider: "told" }));
        assert.deepEqual(await methods(reported.player.id), [["social", kept]]);
      }
    });

    it("works for a native client, which sends code and state itself", async () => {
      addProviderUser(provider, { email: newAddress(), email_verified: true });
      const verifier = "native-client-of-forty-three-letters-or-more";
      const startedLogin = await begin(app, { verifier });
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      const body = { ...Object.fromEntries(back.searchParams), code_verifier: verifier };
      const path = "/v1/gateway/oauth/acme/callback";
      const answer = await post(app, path, body);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("set-cookie") ?? "", /^svc_refresh=/);
      assert.equal((await post(app, path, body)).code, "oauth:state_invalid");
      for (const wrong of [{}, { code: "x" }, { state: "x" }, { code: "", state: "x" }])
        assert.equal((await post(app, path, wrong)).code, "validation:failed");
    });

    it("reports a refusal by the provider or by the person", async () => {
      provider.signsIn = null;
      assert.equal((await signInWithProvider(app)).error, "oauth:provider_denied");
      addProviderUser(provider, {});
      const startedLogin = await begin(app);
      const back = await visitProvider(startedLogin.url, callbackOf("acme"));
      back.searchParams.set("code", "another");
      assert.equal(
        (await openCallback(app, back, startedLogin.cookie)).error,
        "oauth:provider_denied",
      );
    });
  });
});
