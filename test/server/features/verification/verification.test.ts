import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { writeMessage } from "../../../../server/features/delivery/domain/send.ts";
import type { Caller } from "../../../../server/http/auth/auth.ts";
import { resendVerification } from "../../../../server/features/verification/service.ts";
import { Fault } from "../../../../server/platform/faults/fault.ts";
import { startApp, type App } from "../../../support/app.ts";
import { enter, password, post, registerAccount, tokenOf } from "../../../support/identity.ts";
import { followLink, openLink, pressButton } from "../../../support/link-page.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";

const resendPath = "/v1/users/@me/email/resend-verification";
let app: App;
let now = Date.now();
const mailTo = (email: string) => sentMessage(app.deps, email, "verify-email");
const linkTo = async (email: string) => new URL((await mailTo(email)).content.links[0] ?? "");
const tokenTo = async (email: string) => (await linkTo(email)).searchParams.get("token") ?? "";

const isVerified = async (session: { access_token: string }) => {
  const answer = await app.client.get("/v1/users/@me", { token: session.access_token });
  return (
    (answer.body as { user: { email_verified_at: string | null } }).user.email_verified_at !== null
  );
};

const verify = (token: unknown) => post(app, "/v1/users/email/verify", { token });

describe("email verification", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now } });
  });
  after(() => app.stop());

  describe("the verification of an address", () => {
    it("uses the link of the registration mail once", async () => {
      const { email, session } = await registerAccount(app);
      const link = await linkTo(email);
      assert.equal(link.origin, "http://127.0.0.1:8080");
      assert.equal(await isVerified(session), false);
      const page = await openLink(app, link.href);
      assert.equal(await pressButton(app, page, "yes"), "/status/verify?result=success");
      assert.equal(await isVerified(session), true);
      assert.match((await openLink(app, link.href)).location ?? "", /code=invalid_arguments$/);
      assert.match(await pressButton(app, page, "yes"), /code=invalid_arguments$/);
    });

    it("waits for a confirmation, even if the link was opened before", async () => {
      const { email, session } = await registerAccount(app);
      const { href, search } = await linkTo(email);
      const page = await openLink(app, href);
      const previews = [
        ["GET", { "sec-purpose": "prefetch" }],
        ["HEAD", {}],
      ] as const;
      const scanner = { "user-agent": "Mail scanner", cookie: "svc_device=x; svc_refresh=y" };
      for (const [method, headers] of [["GET", {}], ["GET", scanner], ...previews] as const)
        await app.client.request(method, page.action, { headers: { ...headers } });
      for (const [method, headers] of previews) {
        const answer = await app.client.request(method, `/v1/verify${search}`, {
          headers: { ...headers },
        });
        assert.equal(answer.headers.get("location"), "/status/verify?result=success");
      }
      for (const answer of ["", "maybe", "YES"])
        assert.equal(await pressButton(app, page, answer), page.action);
      assert.equal(await isVerified(session), false);
      assert.doesNotMatch(page.html, /<script/);
      assert.equal(await followLink(app, href), "/status/verify?result=success");
      assert.equal(await isVerified(session), true);
    });

    it("confirms at once at the address of the specification, and ends nothing", async () => {
      const { email, session } = await registerAccount(app);
      const { search } = await linkTo(email);
      const answer = await app.client.get(`/v1/verify${search}`);
      assert.deepEqual(
        [answer.status, answer.headers.get("location")],
        [302, "/status/verify?result=success"],
      );
      assert.equal(await isVerified(session), true);
      const login = { identifier: email, password };
      assert.equal((await post(app, "/v1/gateway/login", login)).status, 200);
      const again = await app.client.get(`/v1/verify${search}`);
      assert.match(again.headers.get("location") ?? "", /code=invalid_arguments$/);
    });

    it("accepts a token that a mail program broke over two lines", async () => {
      const { email } = await registerAccount(app);
      const token = (await linkTo(email)).searchParams.get("token") ?? "";
      assert.equal((await verify(`${token.slice(0, 60)}\n ${token.slice(60)}`)).status, 200);
    });

    it("is requested after a guest's upgrade too", async () => {
      const guest = await enter(app);
      const email = `upgraded-${guest.player.id}@example.com`;
      const answer = await post(app, "/v1/gateway/upgrade", { email, password }, tokenOf(guest));
      assert.equal((await verify(await tokenTo(email))).status, 200);
      assert.equal(await isVerified(answer.body), true);
    });

    it("requires the address for which the token was issued", async () => {
      const one = await registerAccount(app);
      const other = await registerAccount(app);
      const query = new URLSearchParams({ email: other.email, token: await tokenTo(one.email) });
      const answer = await app.client.get(`/v1/verify?${query.toString()}`);
      assert.match(answer.headers.get("location") ?? "", /code=invalid_arguments$/);
      assert.equal(await isVerified(one.session), false);
    });

    it("refuses used, replaced, expired, malformed and missing tokens, and those of another kind", async () => {
      const { email, session } = await registerAccount(app);
      const first = await tokenTo(email);
      const resent = await post(app, resendPath, undefined, tokenOf(session));
      assert.equal(resent.status, 204);
      const second = await tokenTo(email);
      assert.notEqual(first, second);
      for (const token of [first, session.access_token, "x", "a.b.c", "x".repeat(5_000)])
        assert.equal((await verify(token)).code, "auth:token_invalid");
      for (const token of [undefined, "", null, 7])
        assert.equal((await verify(token)).code, "request:missing_field");
      const answers = await Promise.all(Array.from({ length: 20 }, () => verify(second)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      const late = await registerAccount(app);
      const token = await tokenTo(late.email);
      now += 24 * 3_600_000;
      assert.equal((await verify(token)).code, "auth:token_invalid");
    });

    it("is not sent again to anonymous callers", async () => {
      const bad = { authorization: "Bearer x.y.z" };
      for (const [headers, code] of [
        [{}, "auth:required"],
        [bad, "auth:token_invalid"],
      ] as const) {
        const answer = await post(app, resendPath, undefined, headers);
        assert.deepEqual([answer.status, answer.code], [401, code]);
      }
    });

    it("is not sent again to guests, verified accounts and accounts without an address", async () => {
      const guest = await enter(app);
      assert.equal((await post(app, resendPath, undefined, tokenOf(guest))).code, "auth:forbidden");
      const { email, session } = await registerAccount(app);
      await verify(await tokenTo(email));
      const answer = await post(app, resendPath, undefined, tokenOf(session));
      assert.equal(answer.code, "user:email_already_verified");
      assert.equal((await messagesTo(app.deps, email)).length, 1);
      // Like an account created by a social login without an address.
      const none = { email: null, emailKey: null, emailVerifiedAt: null };
      await app.deps.em.nativeUpdate(PlayerSchema, { id: session.player.id }, none);
      const lost = await post(app, resendPath, undefined, tokenOf(session));
      assert.deepEqual([lost.status, lost.code], [400, "user:email_missing"]);
    });
  });
  describe("a verification mail that cannot be sent", () => {
    it("keeps the link of the previous mail valid", async () => {
      const limited = { config: { ...app.deps.config, RATE_LIMIT_FACTOR: 1 } };
      const send = () => Promise.reject(new Fault("smtp.unreachable"));
      const down = { name: "planted", keepsContent: false, send, close: () => {} };
      const broken = { senders: { ...app.deps.senders, mail: down } };
      for (const trouble of [limited, broken]) {
        const { email, session } = await registerAccount(app);
        const token = await tokenTo(email);
        const deps = { ...app.deps, em: app.deps.orm.em.fork(), ...trouble };
        const params = { code: "000000" };
        const other = { template: "sign-in-code", to: email, locale: "en", params } as const;
        while (trouble === limited && (await writeMessage(deps.em, deps, other)) !== null);
        const caller = { playerId: session.player.id } as Caller;
        await assert.rejects(resendVerification(deps, caller), { code: "mail:delivery_failed" });
        assert.equal((await verify(token)).status, 200);
      }
    });

    it("is reported, and counted for the account", async () => {
      const broken = await startApp({
        env: { SMTP_URL: "smtp://127.0.0.1:1", RATE_LIMIT_FACTOR: "1" },
        hasJobs: false,
      });
      try {
        const { session } = await registerAccount(broken);
        const resend = () => post(broken, resendPath, undefined, tokenOf(session));
        const codes = [await resend(), await resend(), await resend()].map(({ code }) => code);
        assert.deepEqual(codes, Array(3).fill("mail:delivery_failed"));
        const limited = await resend();
        assert.equal(limited.code, "rate_limit:exceeded");
        const wait = Number(limited.headers.get("retry-after"));
        assert.ok(wait > 500 && wait <= 600);
      } finally {
        await broken.stop();
      }
    });
  });
});
