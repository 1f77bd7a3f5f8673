import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import * as client from "openid-client";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { startApp } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { enter, password, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import { Browser, discover, issuer } from "./browser.ts";
import {
  account,
  app,
  authorize,
  bearer,
  begin,
  confidential,
  exchange,
  open,
  scope,
  secret,
  startsOAuthApp,
  userinfo,
} from "./oauth-app.ts";

describe("the sign-in to third-party programs", () => {
  startsOAuthApp();

  describe("describes itself", () => {
    it("publishes its metadata: S256 only, code flow only, its own addresses", async () => {
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

    it("publishes its metadata where OpenID Connect libraries look for it", async () => {
      const at = async (name: string): Promise<unknown> =>
        (await fetch(`${app.url}/.well-known/${name}`)).json();
      assert.deepEqual(await at("openid-configuration"), await at("oauth-authorization-server"));
    });

    it("lets a page of any program call the endpoints it needs, without cookies, and no others", async () => {
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
  });
  describe("signs players in", () => {
    it("signs players in to public programs, and to confidential ones by header or form", async () => {
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

    it("shows the request only in its own browser, and requires the consent of a registered player", async () => {
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
      const otherBrowser = new Browser(app);
      assert.equal((await otherBrowser.request("GET", `${page}/question`)).status, 404);
      const yes = { body: { is_allowed: true }, bearer: bearer() };
      assert.equal((await otherBrowser.request("POST", page, yes)).status, 404);
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

    it("separates two people who share a browser", async () => {
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

    it("accepts consent from two tabs of one browser, in any order", async () => {
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
  });
  describe("serves a program that requires a recent sign-in", () => {
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

    it("rejects a session from before its request, but accepts one of the same moment", async () => {
      for (const more of [{ prompt: "login" }, { prompt: "login consent" }, { max_age: "0" }]) {
        const asked = await ask(more);
        assert.equal(asked.question.must_sign_in, true);
        await assert.rejects(asked.browser.decide(asked.page, old), /401.*oauth:sign_in_required/);
        const began = now();
        assert.ok((await signedInAt(asked, await signIn())) >= began);
      }
    });

    it("accepts only sessions opened after the request, regardless of the clocks of the hosts", async () => {
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

    it("rejects sessions older than max_age", async () => {
      const asked = await ask({ max_age: "3600" });
      assert.equal(asked.question.must_sign_in, false);
      await assert.rejects(asked.browser.decide(asked.page, old), /401.*oauth:sign_in_required/);
      assert.ok(await signedInAt(asked, await signIn()));
    });

    it("reports the time of the actual sign-in", async () => {
      const at = await signedInAt(await ask({ max_age: String(2 * day) }), old);
      assert.ok(Math.abs(now() - day - at) < 600, String(at));
    });

    /** Sessions without presented credentials since the client's request. */
    const elsewhere = {
      async passport(access: string) {
        const answer = await app.client.get("/v1/tokens/passport", { token: access });
        const { passport } = answer.body as { passport: string };
        const redirectTarget = "http://localhost/";
        const query = new URLSearchParams({ passport, redirect: redirectTarget }).toString();
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

    it("does not count a passport, an upgrade or a refresh as a sign-in", async () => {
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

    it("reports the original sign-in time for a session opened by passport", async () => {
      const { session } = await registerAccount(app);
      const player = session.player.id;
      const authenticatedAt = new Date(Date.now() - day * 1_000);
      await app.deps.em.nativeUpdate(TokenFamilySchema, { player }, { authenticatedAt });
      const access = await elsewhere.passport(session.access_token);
      const at = await signedInAt(await ask({ max_age: String(2 * day) }), access);
      assert.equal(at, Math.floor(authenticatedAt.getTime() / 1_000));
    });

    it("omits the sign-in time when the program requests none and there was none", async () => {
      const asked = await ask({});
      const browser = { ...asked, access: await elsewhere.upgrade() };
      const back = await asked.browser.decide(asked.page, browser.access);
      const tokens = await exchange(open, { verifier: asked.verifier, back });
      assert.ok(tokens.claims()?.sub);
      assert.equal(tokens.claims()?.auth_time, undefined);
    });

    it("accepts a denial from any session", async () => {
      const { browser, page } = await ask({ prompt: "login" });
      const back = await browser.decide(page, old, false);
      assert.equal(back.searchParams.get("error"), "access_denied");
    });
  });
});
