import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import * as client from "openid-client";
import { TokenFamilySchema } from "../../../../db/entities/token-family.ts";
import { revokeOAuthClient } from "../../../../db/queries/oauth/oauth-clients.ts";
import {
  countOpenFamilies,
  revokeFamiliesOf,
} from "../../../../db/queries/sessions/token-families.ts";
import { password, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { Browser, discover } from "./browser.ts";
import {
  account,
  addClient,
  app,
  authorize,
  authorizeAs,
  begin,
  confidential,
  exchange,
  isRefused,
  open,
  redirect,
  scope,
  secret,
  startsOAuthApp,
} from "./oauth-app.ts";

describe("the tokens of third-party programs", () => {
  startsOAuthApp();

  describe("refuses invalid authorization requests", () => {
    it("refuses a request without PKCE or with the plain method, and reports that to the program", async () => {
      const { url } = await begin(open);
      const plain = new URL(url);
      plain.searchParams.set("code_challenge_method", "plain");
      const none = new URL(url);
      for (const name of ["code_challenge", "code_challenge_method"])
        none.searchParams.delete(name);
      const silent = new URL(url);
      silent.searchParams.delete("code_challenge_method");
      for (const wrong of [plain, none, silent]) {
        const { status, location } = await new Browser(app).request("GET", wrong.href);
        assert.equal(status, 303);
        assert.ok(location?.startsWith(`${redirect}?`), location ?? "");
        assert.equal(new URL(location ?? "").searchParams.get("error"), "invalid_request");
      }
    });

    it("refuses a request without openid or with another flow before asking the player", async () => {
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

    it("returns the code only in the query", async () => {
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

    it("redirects a program on a device to any loopback port, and other programs only to theirs", async () => {
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

    it("redirects only to addresses that match a registered one exactly", async () => {
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
  });
  describe("exchanges codes for tokens", () => {
    it("issues no tokens for a wrong verifier, program or secret", async () => {
      const done = await authorize(confidential);
      const wrong = { ...done, verifier: client.randomPKCECodeVerifier() };
      await assert.rejects(exchange(confidential, wrong), { error: "invalid_grant" });
      await assert.rejects(exchange(open, done), { error: "invalid_grant" });
      const withWrongSecret = await discover(
        app,
        "confidential",
        client.ClientSecretBasic("another-secret"),
      );
      await assert.rejects(exchange(withWrongSecret, done), { status: 401 });
      const hashed = client.ClientSecretBasic(hash("sha256", secret));
      await assert.rejects(exchange(await discover(app, "confidential", hashed), done), {
        status: 401,
      });
      assert.ok((await exchange(confidential, done)).access_token);
    });

    it("accepts a code once, and revokes its tokens when the code is used again", async () => {
      const done = await authorize(open);
      const { access_token: token } = await exchange(open, done);
      await assert.rejects(exchange(open, done), { error: "invalid_grant" });
      await isRefused(token);
    });

    it("issues tokens to at most one concurrent use of a code, and then revokes them", async () => {
      const done = await authorize(open);
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => exchange(open, done)));
      const won = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      assert.ok(won.length <= 1, `${won.length} had tokens`);
      for (const { access_token: token } of won) await isRefused(token);
    });
  });
  describe("ends sessions", () => {
    it("ends the session when the program revokes a token, and removes it from the session list", async () => {
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

    it("keeps a session open as long as its longest-lived token is valid", async () => {
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

    it("shows the session in the player's list, where the player can end it", async () => {
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

    it("ends the session on logout everywhere, password change and account closure", async () => {
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
      await assert.rejects(
        mine(),
        /auth:token_invalid/,
        "nor does that session allow anything new",
      );

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

    it("cannot be allowed by a session that is being ended", async () => {
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
  });
  describe("stores no secrets and rejects malformed input", () => {
    it("stores no code, token or secret in a usable form", async () => {
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

    it("rejects a program that was revoked or whose realm is inactive", async () => {
      await addClient("short-lived", null);
      const config = await discover(app, "short-lived", client.None());
      const { access_token: token } = await exchange(config, await authorize(config));
      await revokeOAuthClient(app.deps.em, "short-lived", new Date());
      await isRefused(token);
      const answer = await new Browser(app).request("GET", (await begin(config)).url.href);
      assert.deepEqual([answer.status, answer.location], [400, null]);
    });

    it("answers malformed input with an OAuth error or our envelope, never with 5xx", async () => {
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
          assert.ok(
            status >= 400 && status < 500,
            `${path} ${type} ${body.slice(0, 40)}: ${status}`,
          );
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
  });
});
