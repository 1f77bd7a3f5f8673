import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import argon2 from "argon2";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import {
  enter,
  password,
  post,
  registerAccount,
  tally,
  uniqueName,
  type SessionAnswer,
} from "../../../support/identity.ts";

let app: App;

const login = (identifier: unknown, given: unknown = password) =>
  post(app, "/v1/gateway/login", { identifier, password: given });

describe("POST /v1/gateway/login", () => {
  before(async () => {
    app = await startApp({ hasRealPasswords: true });
  });
  after(() => app.stop());

  describe("checks credentials", () => {
    it("signs in by email or username in any case, with a cookie of 30 days", async () => {
      const { email, session } = await registerAccount(app);
      const { username = "" } = session.player;
      for (const identifier of [
        email,
        ` ${email.toUpperCase()} `,
        username,
        username.toUpperCase(),
      ]) {
        const answer = await login(identifier);
        assert.equal(answer.status, 200);
        assert.equal(answer.body.player.id, session.player.id);
        assert.equal(answer.body.reclaim_token, undefined);
        const cookie = answer.headers.get("set-cookie") ?? "";
        assert.match(
          cookie,
          /Max-Age=2592000; Path=\/v1\/gateway; HttpOnly; Secure; SameSite=None$/,
        );
      }
    });

    it("returns the same for a wrong password, an unknown name and a guest's name", async () => {
      const { email } = await registerAccount(app);
      const guest = await enter(app);
      const answers = [
        await login(email, "wrong password 1"),
        await login(`${uniqueName()}@example.com`),
        await login(uniqueName()),
        await login(guest.player.name),
        await login("\u212Aelvin ' or 1=1 --"),
      ];
      const shape = ({ status, json, headers }: SessionAnswer) => ({
        status,
        flash: json.flash,
        cookie: headers.get("set-cookie"),
        headers: [...headers.keys()].filter((name) => name !== "x-request-id"),
      });
      for (const answer of answers) assert.deepEqual(shape(answer), shape(answers[0] ?? answer));
      assert.equal(answers[0]?.code, "auth:invalid");
    });

    it("names blank, missing and overlong fields", async () => {
      const bodies: [unknown, string[]][] = [
        [{}, ["identifier", "password"]],
        [{ identifier: " ", password: "\t" }, ["identifier", "password"]],
        [{ identifier: "a".repeat(255), password: "a".repeat(129) }, ["identifier", "password"]],
        [{ identifier: 7, password }, ["identifier"]],
        [{ identifier: "a\u0000b", password }, ["identifier"]],
      ];
      for (const [body, fields] of bodies) {
        const answer = await post(app, "/v1/gateway/login", body);
        assert.equal(answer.status, 422);
        const found = answer.json.flash?.violations?.map((violation) => violation.propertyPath);
        assert.deepEqual(found?.toSorted(), fields);
      }
    });
  });
  describe("counts fairly", () => {
    it("resets the failures when a login succeeds before the lock", async () => {
      const { email } = await registerAccount(app);
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 4; i++) assert.equal((await login(email, "no")).status, 401);
        assert.equal((await login(email)).status, 200);
      }
    });

    it("allows at most five of many concurrent guesses", async () => {
      const { email, session } = await registerAccount(app);
      // With cheap hashes: thirty real checks may exceed the request deadline on a slow machine.
      const passwordHash = await argon2.hash(password, { memoryCost: 64, timeCost: 2 });
      const em = app.deps.orm.em.fork();
      await em.nativeUpdate(PlayerSchema, { id: session.player.id }, { passwordHash });
      const answers = await Promise.all(Array.from({ length: 30 }, () => login(email, "no")));
      assert.deepEqual(tally(answers), { "401 auth:invalid": 5, "423 auth:locked": 25 });
      assert.equal((await login(email)).status, 423);
    });

    it("accepts many correct logins at once", async () => {
      const { email } = await registerAccount(app);
      const answers = await Promise.all(Array.from({ length: 20 }, () => login(email)));
      assert.deepEqual(tally(answers), { "200": 20 });
    });

    it("releases the lock after its time, and stores no identifier in Redis", async () => {
      const identifier = `${uniqueName()}@example.com`;
      for (let i = 0; i < 5; i++) await login(identifier, "no");
      const keys = await app.deps.redis.keys("login:*");
      assert.ok(keys.length > 0);
      assert.ok(!keys.join().includes(identifier.slice(0, 8)));
      for (const key of keys) {
        const left = await app.deps.redis.pttl(key);
        assert.ok(left > 0 && left <= 900_000, "every counter expires");
      }
    });

    it("rehashes an old hash and records the time", async () => {
      const { email, session } = await registerAccount(app);
      const read = () => app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
      const weak = await argon2.hash(password, { memoryCost: 8_192, timeCost: 1 });
      const old = { passwordHash: weak, lastLoginAt: null };
      await app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id: session.player.id }, old);
      assert.equal((await login(email)).status, 200);
      const player = await read();
      assert.match(player.passwordHash ?? "", /m=19456/);
      assert.ok(player.lastLoginAt);
      assert.equal((await login(email)).status, 200);
    });
  });
});

describe("failed logins", () => {
  before(async () => {
    // Most of these passwords are wrong, so their hashes need not be strong.
    app = await startApp();
  });
  after(() => app.stop());

  describe("lock out", () => {
    it("locks after five failures, known or not, and then returns the same for every password", async () => {
      const { email, session } = await registerAccount(app);
      for (const identifier of [email, uniqueName(), `${uniqueName()}@example.com`]) {
        const from = performance.now();
        for (let i = 0; i < 5; i++)
          assert.equal((await login(identifier, "no")).code, "auth:invalid");
        for (const given of ["no", password]) {
          const answer = await login(identifier, given);
          assert.deepEqual([answer.status, answer.code], [423, "auth:locked"]);
          const seconds = Number(answer.headers.get("retry-after"));
          const passed = (performance.now() - from) / 1_000;
          assert.ok(seconds >= Math.floor(900 - passed) && seconds <= 900, `${seconds} s`);
          assert.equal(answer.json.flash?.errors?.[0]?.params?.["retry_after"], seconds);
        }
      }
      const running = await post(app, "/v1/gateway/refresh", {
        refresh_token: session.refresh_token,
      });
      assert.equal(running.status, 200);
    });

    it("counts each identifier of an account separately, so that none reveals the other", async () => {
      const outcome = async (identifier: string, given: string) => {
        const { status, code } = await login(identifier, given);
        return `${status} ${code ?? ""}`.trim();
      };
      for (const isAddressLocked of [true, false]) {
        const { email, session } = await registerAccount(app);
        const { username = "" } = session.player;
        const [locked, other] = isAddressLocked ? [email, username] : [username, email];
        for (let i = 0; i < 6; i++) await login(locked, "no");
        assert.equal(await outcome(locked, password), "423 auth:locked");
        for (let i = 0; i < 4; i++) assert.equal(await outcome(other, "no"), "401 auth:invalid");
        assert.equal(await outcome(other, password), "200");
        assert.equal(await outcome(locked, password), "423 auth:locked", "it is not ended either");
      }
    });

    it("matches an identifier in every spelling of its normal form", async () => {
      const { email, session } = await registerAccount(app);
      const [local = "", domain = ""] = email.split("@");
      const { username = "" } = session.player;
      const full = username.replace(/[!-~]/g, (sign) =>
        String.fromCharCode(sign.charCodeAt(0) + 0xfee0),
      );
      for (const spelling of [`${local}＠${domain}`, ` ${email.toUpperCase()}. `, full])
        assert.equal((await login(spelling)).status, 200, spelling);
      for (let i = 0; i < 5; i++) await login(`${local}＠${domain}`, "no");
      assert.equal((await login(email)).code, "auth:locked");
    });
  });
});

describe("a login while Redis is unavailable", () => {
  it("is still counted, locked and accepted", async () => {
    const clock = manualClock();
    const app = await startApp({ hasJobs: false, clock });
    const login = (identifier: string, given: string) =>
      post(app, "/v1/gateway/login", { identifier, password: given });
    try {
      const [one, two] = [await registerAccount(app), await registerAccount(app)];
      await app.stores.redis.kill();
      for (let i = 0; i < 5; i++) assert.equal((await login(one.email, "no")).status, 401);
      assert.equal((await login(one.email, password)).code, "auth:locked");
      assert.equal((await login(two.email, password)).status, 200);
      clock.advance(-86_400_000);
      assert.equal((await login(one.email, password)).status, 200, "a clock set back locks nobody");
    } finally {
      await app.stores.redis.restart();
      await app.stop();
    }
  });
});

describe("the rate limit of logins", () => {
  it("is the configured one, per address", async () => {
    const app = await startApp({ env: { RATE_LIMIT_FACTOR: "1", RATE_LIMIT_LOGIN: "3" } });
    try {
      const answers: SessionAnswer[] = [];
      for (let i = 0; i < 5; i++)
        answers.push(await post(app, "/v1/gateway/login", { identifier: uniqueName(), password }));
      assert.deepEqual(tally(answers), { "401 auth:invalid": 3, "429 rate_limit:exceeded": 2 });
    } finally {
      await app.stop();
    }
  });
});
