import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { reopenAccount } from "../../../../db/queries/accounts/accounts.ts";
import type { Caller } from "../../../../server/http/auth/auth.ts";
import { requestPhoneCode, verifyPhoneCode } from "../../../../server/features/accounts/phone.ts";
import { writeMessage } from "../../../../server/features/delivery/domain/send.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { post } from "../../../support/identity.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { count, me, newAccount, result } from "./own-account.ts";

let app: App;
const clock = manualClock();
const account = () => newAccount(app);
const numbers = { last: 0 };
const newNumber = () => `+49151${String((numbers.last += 1)).padStart(8, "0")}`;

const codeTo = async (phone: string) =>
  (await sentMessage(app.deps, phone, "phone-code")).content.code ?? "";

const wrongOf = (code: string) => (code === "000000" ? "000001" : "000000");
const player = (id: number) => app.deps.orm.em.fork().findOneOrFail(PlayerSchema, id);

describe("a phone number", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("is verified with its code", () => {
    it("is verified once with the code sent to it, and is deleted on request", async () => {
      const one = await account();
      const phone = newNumber();
      assert.equal((await one.call("POST", "/phone", { phone })).status, 200);
      assert.equal((await player(one.id)).phone, null);
      const code = await codeTo(phone);
      const verify = () =>
        app.client.post(`${me}/phone/verify`, { body: { code }, token: one.session.access_token });
      const answers = await Promise.all([verify(), verify(), verify()]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401, 401]);
      const body = answers.find(({ status }) => status === 200)?.body as Record<string, string>;
      assert.equal(body["phone"], phone);
      assert.match(body["phone_verified_at"] ?? "", /\+00:00$/);
      assert.equal((await one.call("DELETE", "/phone")).status, 200);
      assert.equal((await one.call("DELETE", "/phone")).status, 200);
      const after = await player(one.id);
      assert.deepEqual([after.phone, after.phoneVerifiedAt], [null, null]);
    });

    it("accepts a code with spaces or dashes, and counts no malformed code as an attempt", async () => {
      const one = await account();
      const phone = newNumber();
      await one.call("POST", "/phone", { phone });
      const code = await codeTo(phone);
      const verify = (text: string) => one.call("POST", "/phone/verify", { code: text });
      for (const text of ["1", "12345", "1234567", "123456 7", "code", "no code yet", "----"])
        assert.equal((await verify(text)).status, 401, text);
      assert.equal(
        (await verify(`\u200f${code.slice(0, 3)} - ${code.slice(3)}\u200f`)).status,
        200,
      );
    });

    it("invalidates its sign-in code when it is deleted or replaced", async () => {
      const gateway = "/v1/gateway/code";
      const verified = async (one: Awaited<ReturnType<typeof account>>) => {
        const phone = newNumber();
        await one.call("POST", "/phone", { phone });
        const code = await codeTo(phone);
        assert.equal((await one.call("POST", "/phone/verify", { code })).status, 200);
        return phone;
      };
      const changes: ((one: Awaited<ReturnType<typeof account>>) => Promise<unknown>)[] = [
        (one) => one.call("DELETE", "/phone"),
        verified,
      ];
      for (const change of changes) {
        const one = await account();
        const { email } = one;
        const phone = await verified(one);
        await post(app, `${gateway}/request`, { email, channel: "sms" });
        const { content } = await sentMessage(app.deps, phone, "sign-in-code-sms");
        await change(one);
        const answer = await post(app, `${gateway}/verify`, { email, code: content.code });
        assert.equal(answer.code, "auth:code_invalid");
      }
    });

    it("can be verified after a secret rotation while the previous secret is configured", async () => {
      const one = await account();
      const phone = newNumber();
      await one.call("POST", "/phone", { phone });
      const code = await codeTo(phone);
      const { fam: family } = app.deps.tokens.verify("access", one.session.access_token) ?? {};
      const caller = { playerId: one.id, family } as Caller;
      const given = app.deps.config.APP_SECRET;
      const config = { ...app.deps.config, APP_SECRET: "n".repeat(32) };
      await assert.rejects(verifyPhoneCode({ ...app.deps, config }, caller, code), {
        code: "phone:code_invalid",
      });
      const rotated = { ...app.deps, config: { ...config, APP_SECRET_PREVIOUS: given } };
      assert.equal((await verifyPhoneCode(rotated, caller, code)).phone, phone);
    });

    it("keeps its current code valid while no new one can be sent", async () => {
      const one = await account();
      const phone = newNumber();
      await one.call("POST", "/phone", { phone });
      const code = await codeTo(phone);
      const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1 };
      const deps = { ...app.deps, em: app.deps.orm.em.fork(), config };
      const other = { template: "phone-code", to: phone, locale: "en", params: { code } } as const;
      while ((await writeMessage(deps.em, deps, other)) !== null);
      const { fam: family = "" } = deps.tokens.verify("access", one.session.access_token) ?? {};
      await requestPhoneCode(deps, { playerId: one.id, family } as Caller, phone);
      assert.equal(result(await one.call("POST", "/phone/verify", { code })), "200");
    });

    it("must be in E.164 format", async () => {
      const one = await account();
      for (const phone of [
        undefined,
        null,
        5,
        "",
        "015112345678",
        "+0151123456",
        "+49 151 1",
        "+1".repeat(9),
        "+1234567890123456",
      ])
        assert.equal(result(await one.call("POST", "/phone", { phone })), "400 phone:invalid");
      for (const code of [undefined, null, 5, ""])
        assert.equal(
          result(await one.call("POST", "/phone/verify", { code })),
          "400 request:missing_field",
        );
      for (const code of ["12345", "abcdef", "１２３４５６", "123456", "1".repeat(5_000)])
        assert.equal(
          result(await one.call("POST", "/phone/verify", { code })),
          "401 phone:code_invalid",
        );
    });
  });
  describe("is protected against guessing", () => {
    it("limits guesses, also concurrent ones, and rejects an older code", async () => {
      const one = await account();
      const phone = newNumber();
      await one.call("POST", "/phone", { phone });
      const first = await codeTo(phone);
      const other = newNumber();
      await one.call("POST", "/phone", { phone: other });
      const code = await codeTo(other);
      const verify = (text: string) => one.call("POST", "/phone/verify", { code: text });
      if (first !== code) assert.equal((await verify(first)).status, 401);
      await Promise.all(Array.from({ length: 5 }, () => verify(wrongOf(code))));
      assert.equal(result(await verify(code)), "401 phone:code_invalid");
    });

    it("gets three codes in five minutes and no fourth, on any route", async () => {
      const one = await account();
      const answers = await Promise.all(
        Array.from({ length: 6 }, () =>
          app.client.post(`${me}/phone`, {
            body: { phone: newNumber() },
            token: one.session.access_token,
          }),
        ),
      );
      assert.deepEqual(count(answers.map(({ status }) => String(status))), { "200": 3, "429": 3 });
      const wait = Number(answers.find(({ status }) => status === 429)?.headers.get("retry-after"));
      assert.ok(wait > 200 && wait <= 300);
      await one.call("DELETE", "/phone");
      assert.equal(
        result(await one.call("POST", "/phone", { phone: newNumber() })),
        "429 phone:too_many_codes",
      );
    });

    it("expires its code after five minutes; then new codes may be requested", async () => {
      const one = await account();
      const phones = [newNumber(), newNumber(), newNumber()];
      for (const phone of phones)
        assert.equal((await one.call("POST", "/phone", { phone })).status, 200);
      const code = await codeTo(phones[2] ?? "");
      const verify = () => one.call("POST", "/phone/verify", { code });
      const ask = async () => result(await one.call("POST", "/phone", { phone: newNumber() }));
      clock.advance(5 * 60_000 - 1_000);
      assert.equal(await ask(), "429 phone:too_many_codes");
      clock.advance(1_000);
      assert.equal(result(await verify()), "401 phone:code_invalid");
      assert.equal(await ask(), "200");
    });

    it("gets codes again after the clock was set back", async () => {
      const one = await account();
      clock.advance(3_000_000);
      for (let i = 0; i < 3; i++) await one.call("POST", "/phone", { phone: newNumber() });
      clock.advance(-3_000_000);
      assert.equal(result(await one.call("POST", "/phone", { phone: newNumber() })), "200");
    });
  });
  describe("belongs to one account", () => {
    it("belongs to the account that verified it first, until that account is closed", async () => {
      const [one, other] = [await account(), await account()];
      const phone = newNumber();
      await one.call("POST", "/phone", { phone });
      const code = await codeTo(phone);
      assert.equal((await one.call("POST", "/phone/verify", { code })).status, 200);
      await other.call("POST", "/phone", { phone });
      assert.equal((await messagesTo(app.deps, phone)).length, 2);
      const second = await codeTo(phone);
      assert.equal(
        result(await other.call("POST", "/phone/verify", { code: second })),
        "401 phone:code_invalid",
      );
      assert.equal((await player(other.id)).phone, null);
      assert.equal((await player(one.id)).phone, phone);
      assert.equal((await one.call("DELETE", "")).status, 200);
      await other.call("POST", "/phone", { phone });
      const { content } = await sentMessage(app.deps, phone, "phone-code", 2);
      const third = { code: content.code };
      assert.equal(result(await other.call("POST", "/phone/verify", third)), "200");
      assert.ok(await reopenAccount(app.deps.em, one.id));
      assert.equal((await player(one.id)).phoneVerifiedAt, null);
    });
  });
});
