import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import {
  maxMessagesPerHour,
  writeMessage,
} from "../../../../server/features/delivery/domain/send.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { cookieOf, enter, password, post, uniqueName } from "../../../support/identity.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { me, newAccount, result } from "./own-account.ts";

let app: App;
const clock = manualClock();
const tenMinutes = 600_000;
const numbers = { last: 0 };
const newNumber = () => `+49152${String((numbers.last += 1)).padStart(8, "0")}`;
const newAddress = () => `${uniqueName()}@example.com`;

/** A session of ten minutes and a bit. */
async function staleAccount({ isVerified = true } = {}) {
  const one = await newAccount(app);
  const em = app.deps.orm.em.fork();
  const emailVerifiedAt = isVerified ? new Date(clock.now()) : null;
  await em.nativeUpdate(PlayerSchema, { id: one.id }, { emailVerifiedAt });
  clock.advance(tenMinutes + 1);
  return one;
}

type Account = Awaited<ReturnType<typeof newAccount>>;

/** What the account is told about a change of its address: `200`, or the missing proofs. */
async function changed(one: Account, session: SessionBody = one.session): Promise<string> {
  const answer = await app.client.patch(me, {
    token: session.access_token,
    body: { email: newAddress() },
  });
  if (answer.status === 200) return "200";
  const [error] = (answer.json as { flash: { errors: { code: string; params?: object }[] } }).flash
    .errors;
  return `${answer.status} ${error?.code} ${JSON.stringify(error?.params)}`;
}

const required = (...proofs: string[]) => `403 auth:proof_required ${JSON.stringify({ proofs })}`;
const prove = async (one: Account, body: unknown) => result(await one.call("POST", "/proof", body));
const templatesTo = async (to: string) =>
  (await messagesTo(app.deps, to)).map(({ template }) => template);

async function codeFor({ email }: Account, numKnown = 0): Promise<string> {
  await post(app, "/v1/gateway/code/request", { email });
  return (await sentMessage(app.deps, email, "sign-in-code", numKnown)).content.code ?? "";
}

describe("a change of the ways to sign in", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("needs a recent sign-in", () => {
    it("of at most ten minutes, which a refresh and a passport do not renew", async () => {
      const one = await newAccount(app);
      clock.advance(tenMinutes);
      assert.equal(await changed(one), "200");
      clock.advance(1);
      assert.equal(await changed(one), required("password"));
      const { refresh_token } = one.session;
      const { body: refreshed } = await post(app, "/v1/gateway/refresh", { refresh_token });
      assert.equal(await changed(one, refreshed), required("password"));
      const token = refreshed.access_token;
      const { passport } = (await app.client.get("/v1/tokens/passport", { token })).body as {
        passport: string;
      };
      const query = new URLSearchParams({ passport, redirect: "http://localhost:5173/" });
      const arrived = await app.client.get(`/v1/gateway/customs?${query.toString()}`);
      const cookie = arrived.headers.getSetCookie()[0]?.split(";", 1)[0]?.split("=")[1] ?? "";
      const derived = await post(app, "/v1/gateway/refresh", {}, cookieOf(cookie));
      assert.equal(derived.status, 200);
      assert.equal(await changed(one, derived.body), required("password"));
      const identifier = one.session.player.username;
      const { body: again } = await post(app, "/v1/gateway/login", { identifier, password });
      assert.equal(await changed(one, again), "200");
      assert.equal(await changed(one), required("password"), "other sessions stay as they are");
    });

    it("also for a number, when its code is requested, and for a first password", async () => {
      const one = await staleAccount();
      const proofRequired = "403 auth:proof_required";
      const phone = newNumber();
      assert.equal(result(await one.call("POST", "/phone", { phone })), proofRequired);
      assert.deepEqual(await messagesTo(app.deps, phone), []);
      assert.equal(await prove(one, { password }), "200");
      clock.advance(tenMinutes - 1_000);
      assert.equal(result(await one.call("POST", "/phone", { phone })), "200");
      const { code } = (await sentMessage(app.deps, phone, "phone-code")).content;
      clock.advance(60_000);
      assert.equal(result(await one.call("POST", "/phone/verify", { code })), "200", "not again");
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: one.id }, { passwordHash: null });
      const first = { password: "abcdefg1" };
      assert.equal(result(await one.call("POST", "/password/initial", first)), proofRequired);
    });

    it("but not for anything else, nor for the upgrade of a guest", async () => {
      const one = await staleAccount();
      for (const body of [{ display_name: "Ada" }, { email: one.email.toUpperCase() }])
        assert.equal((await one.change(body)).status, 200);
      assert.equal(result(await one.call("DELETE", "/phone")), "200");
      const guest = await enter(app);
      clock.advance(tenMinutes + 1);
      const upgraded = await app.client.post("/v1/gateway/upgrade", {
        token: guest.access_token,
        body: { email: newAddress(), password },
      });
      assert.equal(upgraded.status, 200);
      assert.equal(
        await changed(one, upgraded.body as SessionBody),
        "200",
        "it chose the password",
      );
    });
  });
  describe("needs a proof in an older session", proofs);
  describe("is mailed to the verified address", notices);
});

function proofs(): void {
  it("by the password, for this session and ten minutes", async () => {
    const one = await staleAccount();
    const identifier = one.email;
    const { body: other } = await post(app, "/v1/gateway/login", { identifier, password });
    clock.advance(tenMinutes + 1);
    assert.equal(await changed(one), required("password", "code"));
    const answer = await app.client.post(`${me}/proof`, {
      token: one.session.access_token,
      body: { password },
    });
    assert.deepEqual([answer.status, answer.body], [200, { expires_in: 600 }]);
    assert.equal(await changed(one, other), required("password", "code"));
    clock.advance(tenMinutes);
    assert.equal(await changed(one), "200");
    clock.advance(1);
    assert.equal(await changed(one), required("password", "code"));
  });

  it("by a code that the verified address received, once", async () => {
    const one = await staleAccount();
    const em = app.deps.orm.em.fork();
    await em.nativeUpdate(PlayerSchema, { id: one.id }, { passwordHash: null });
    assert.equal(await changed(one), required("code"));
    const code = await codeFor(one);
    const both = await Promise.all([prove(one, { code }), prove(one, { code: ` ${code} ` })]);
    assert.deepEqual(both.toSorted(), ["200", "401 auth:code_invalid"]);
    assert.equal(await changed(one), "200");
  });

  it("but not by a code sent to an unverified address", async () => {
    const one = await staleAccount({ isVerified: false });
    assert.equal(await prove(one, { code: await codeFor(one) }), "401 auth:code_invalid");
    assert.equal(await changed(one), required("password"));
  });

  it("nor by a code of another purpose, or of an address that was replaced since", async () => {
    const one = await staleAccount();
    assert.equal(await prove(one, { password }), "200");
    const phone = newNumber();
    assert.equal(result(await one.call("POST", "/phone", { phone })), "200");
    const texted = (await sentMessage(app.deps, phone, "phone-code")).content.code;
    assert.equal(await prove(one, { code: texted }), "401 auth:code_invalid");
    const mailed = await codeFor(one);
    assert.equal(await changed(one), "200");
    assert.equal(await prove(one, { code: mailed }), "401 auth:code_invalid");
    assert.equal(await prove(one, { code: await codeFor(one, 1) }), "200", "it receives codes");
  });

  it("of which failures count as failed logins", async () => {
    const login = (one: Account) =>
      post(app, "/v1/gateway/login", { identifier: one.email, password });
    const one = await staleAccount();
    const wrong = { password: "not it 1" };
    const answers: string[] = [];
    for (let n = 0; n < 6; n++) answers.push(await prove(one, wrong));
    assert.deepEqual(new Set(answers.slice(0, 5)), new Set(["401 user:password_incorrect"]));
    assert.equal(answers[5], "423 auth:locked");
    assert.equal(await prove(one, { password }), "423 auth:locked");
    assert.equal((await login(one)).code, "auth:locked");
    const two = await staleAccount();
    const code = await codeFor(two);
    const other = code === "000000" ? "000001" : "000000";
    for (let n = 0; n < 5; n++)
      assert.equal(await prove(two, { code: other }), "401 auth:code_invalid");
    assert.equal(await prove(two, { code }), "423 auth:locked");
    assert.equal(await prove(two, { password }), "423 auth:locked");
    assert.equal((await login(two)).status, 200, "nobody guessed its password");
  });

  it("which is one of the two", async () => {
    const one = await staleAccount();
    for (const body of [undefined, {}, { password: "" }, { code: 123_456 }])
      assert.equal(await prove(one, body), "400 request:missing_field");
    const both = { password, code: "123456" };
    assert.equal(await prove(one, both), "422 validation:failed");
    for (const code of ["12345", "abcdef", "1".repeat(5_000)])
      for (let n = 0; n < 3; n++)
        assert.equal(await prove(one, { code }), "401 auth:code_invalid", "counts no failure");
  });

  it("and not by an ended session or an API key", async () => {
    const one = await staleAccount();
    const keys = "/v1/realms/gamedata/keys";
    const token = one.session.access_token;
    const made = await app.client.post(keys, { token, body: { name: "Mine", scopes: ["*"] } });
    const headers = { "x-api-key": (made.body as { plaintext: string }).plaintext };
    const byKey = await app.client.post(`${me}/proof`, { body: { password }, headers });
    assert.equal(byKey.status, 401);
    assert.equal((await app.client.delete(`${me}/sessions`, { token })).status, 204);
    assert.equal(await prove(one, { password }), "401 auth:token_invalid");
    assert.match(await changed(one), /^401 auth:token_invalid/);
  });

  it("after the clock was set back, which makes no session fresh", async () => {
    clock.advance(3_600_000);
    const one = await newAccount(app);
    clock.advance(-3_600_000);
    assert.equal(await changed(one), required("password"));
    assert.equal(await prove(one, { password }), "200");
    assert.equal(await changed(one), "200");
  });
}

function notices(): void {
  async function verifyNumber(one: Account) {
    const phone = newNumber();
    assert.equal(result(await one.call("POST", "/phone", { phone })), "200");
    const { code } = (await sentMessage(app.deps, phone, "phone-code")).content;
    return result(await one.call("POST", "/phone/verify", { code }));
  }

  it("when a number is verified or removed, but not at an unverified address", async () => {
    const one = await staleAccount();
    await prove(one, { password });
    assert.equal(await verifyNumber(one), "200");
    await one.call("DELETE", "/phone");
    await one.call("DELETE", "/phone");
    assert.deepEqual(await templatesTo(one.email), [
      "verify-email",
      "phone-changed",
      "phone-removed",
    ]);
    const unverified = await newAccount(app);
    assert.equal(await verifyNumber(unverified), "200");
    assert.deepEqual(await templatesTo(unverified.email), ["verify-email"]);
  });

  it("or is refused, when the mailbox has as many notices as it may get", async () => {
    const one = await staleAccount();
    await prove(one, { password });
    const { em } = app.deps;
    const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1 };
    const limited = { ...app.deps, config };
    const notice = { template: "phone-removed", to: one.email, locale: "en", params: {} } as const;
    for (let n = 0; n < maxMessagesPerHour; n++) await writeMessage(em, limited, notice);
    Object.assign(app.deps.config, { RATE_LIMIT_FACTOR: 1 });
    try {
      assert.match(await changed(one), /^503 server:unavailable/);
      assert.equal((await one.call("GET", "")).user["email"], one.email);
    } finally {
      Object.assign(app.deps.config, { RATE_LIMIT_FACTOR: 0 });
    }
  });
}
