import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  atProvider,
  callbackPath,
  clock,
  cookiesOf,
  identitiesFor,
  lines,
  provider,
  signIn,
  startsOidc,
  url,
  visit,
  whoIs,
} from "./oidc-app.ts";

const leads = { email: "ada@example.com", email_verified: true, groups: ["x", "team-leads"] };

describe("sign-in of operators at an OpenID provider", () => {
  startsOidc();

  describe("opens a session", () => {
    it("with a button on the login page, code, PKCE, state and nonce", async () => {
      assert.match(await (await visit("/operator/login")).text(), /Sign in with 127\.0\.0\.1:\d+/);
      const start = await visit("/operator/login/oidc");
      const goal = new URL(start.headers.get("location") ?? "");
      assert.equal(goal.searchParams.get("code_challenge_method"), "S256");
      assert.equal(goal.searchParams.get("redirect_uri"), url + callbackPath);
      for (const name of ["state", "nonce", "code_challenge"])
        assert.equal(goal.searchParams.get(name)?.length, 43, name);
      assert.match(start.headers.getSetCookie().join(), /HttpOnly; SameSite=Lax; Max-Age=600/);
    });

    it("of the verified address with the highest role, until it signs out", async () => {
      provider.people.set("ada", { ...leads, groups: ["team-games", "team-leads", "everybody"] });
      const answer = await signIn("ada");
      assert.equal(answer.status, 200);
      // A redirect from another site would not carry the cookie.
      assert.match(await answer.text(), /http-equiv="refresh" content="0; url=\/operator"/);
      assert.match(answer.headers.getSetCookie().join(), /SameSite=Strict; Max-Age=43200/);
      const cookie = cookiesOf(answer);
      assert.deepEqual(await whoIs(cookie), { name: "ada@example.com", role: "admin" });
      const out = await visit("/operator/logout", { cookie, origin: url }, "POST");
      assert.equal(out.status, 303);
      assert.equal(await whoIs(cookie), 401);
    });

    it("for twelve hours", async () => {
      provider.people.set("ada", leads);
      const cookie = cookiesOf(await signIn("ada"));
      clock.advance(12 * 3_600_000 - 1_000);
      assert.notEqual(await whoIs(cookie), 401);
      clock.advance(2_000);
      assert.equal(await whoIs(cookie), 401);
    });

    it("of the subject where the address is not verified", async () => {
      provider.people.set("ben", { ...leads, email_verified: false });
      assert.deepEqual(await whoIs(cookiesOf(await signIn("ben"))), {
        name: "oidc:ben",
        role: "admin",
      });
    });

    it("that ends when the role or the provider is removed from the settings", async () => {
      provider.people.set("ada", leads);
      const cookie = /operator=([^;]+)/.exec(cookiesOf(await signIn("ada")))?.[1] ?? "";
      assert.equal((await identitiesFor().fromCookie(cookie))?.role, "admin");
      const lower = identitiesFor({ OPERATOR_OIDC_ROLES: "team-leads=viewer" });
      assert.equal((await lower.fromCookie(cookie))?.role, "viewer");
      const none = identitiesFor({ OPERATOR_OIDC_ROLES: "others=viewer" });
      assert.equal(await none.fromCookie(cookie), null);
      const elsewhere = identitiesFor({ OPERATOR_OIDC_ISSUER: "https://id.example" });
      assert.equal(await elsewhere.fromCookie(cookie), null);
    });
  });
  describe("is refused", () => {
    const refused = async (answer: Response, status: number, code: string) => {
      assert.equal(answer.status, status);
      assert.match(await answer.text(), new RegExp(code));
      assert.equal(/\boperator=/.test(answer.headers.getSetCookie().join()), false);
    };

    it("to people without a role", async () => {
      provider.people.set("eve", { ...leads, groups: ["others"] });
      await refused(await signIn("eve"), 403, "operator:role_missing");
      provider.people.set("eve", { email: "eve@example.com", email_verified: true });
      await refused(await signIn("eve"), 403, "operator:role_missing");
    });

    it("to whom the provider refuses", async () => {
      await refused(await signIn(null), 400, "oauth:provider_denied");
    });

    it("in another browser, with another state, or later than ten minutes", async () => {
      provider.people.set("ada", leads);
      provider.signsIn = "ada";
      const [one, other] = [await atProvider(), await atProvider()];
      await refused(await visit(one.back.href), 400, "oauth:state_invalid");
      await refused(await visit(one.back.href, { cookie: other.kept }), 400, "oauth:state_invalid");
      await refused(
        await visit(one.back.href, { cookie: `${one.kept}x` }),
        400,
        "oauth:state_invalid",
      );
      clock.advance(600_001);
      await refused(await visit(one.back.href, { cookie: one.kept }), 400, "oauth:state_invalid");
    });

    it("to a code that was used, with a reason in the log and no token", async () => {
      provider.signsIn = "ada";
      const { kept, back } = await atProvider();
      assert.equal((await visit(back.href, { cookie: kept })).status, 200);
      lines.length = 0;
      await refused(await visit(back.href, { cookie: kept }), 400, "oauth:provider_denied");
      const log = lines.join("");
      assert.match(log, /operator_sign_in_failed[^\n]*invalid_grant/);
      const { searchParams } = back;
      for (const secret of [searchParams.get("code"), searchParams.get("state"), kept])
        assert.ok(secret && !log.includes(secret));
    });

    it("when another site begins it", async () => {
      const foreign = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" };
      await refused(await visit("/operator/login/oidc", foreign), 403, "request:origin_forbidden");
      provider.signsIn = "ada";
      const { kept, back } = await atProvider();
      const framed = { ...foreign, "sec-fetch-dest": "iframe", cookie: kept };
      await refused(await visit(back.href, framed), 403, "request:origin_forbidden");
      assert.equal((await visit(back.href, { ...foreign, cookie: kept })).status, 200);
    });
  });
});
