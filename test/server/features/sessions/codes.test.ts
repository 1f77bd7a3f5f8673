import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { insertRequest } from "../../../../db/queries/sessions/credential-requests.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { tryCode } from "../../../../db/queries/sessions/sign-in-codes.ts";
import { answerRequest, maxCodes } from "../../../../workers/processors/credential-requests.ts";
import { startApp, type App } from "../../../support/app.ts";
import {
  enter,
  password,
  post,
  registerAccount,
  tally,
  tokenOf,
  uniqueName,
} from "../../../support/identity.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";

const requestPath = "/v1/gateway/code/request";
const verifyPath = "/v1/gateway/code/verify";
let app: App;
let now = Date.now();
const ask = (email: unknown, channel?: unknown) => post(app, requestPath, { email, channel });
const verify = (email: unknown, code: unknown) => post(app, verifyPath, { email, code });

/** Requests a code and reads it from the inbox; `count` is the number of earlier messages. */
async function codeFor(email: string): Promise<string> {
  const sentBefore = (await codesTo(email)).length;
  assert.equal((await ask(email)).status, 200);
  return (await sentMessage(app.deps, email, "sign-in-code", sentBefore)).content.code ?? "";
}

const codesTo = async (email: string) =>
  (await messagesTo(app.deps, email)).filter(({ template }) => template === "sign-in-code");

/** Resolves when no request is waiting for its job. */
async function requestsAreDone(): Promise<void> {
  const left = () => rowsOf(app.deps.em, sql`select 1 from credential_requests`);
  while ((await left()).length > 0) await new Promise((done) => setTimeout(done, 20));
}

const wrongFor = (code: string) => (code === "000000" ? "000001" : "000000");

describe("sign-in codes", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now } });
  });
  after(() => app.stop());

  describe("a sign-in code", () => {
    describe("signs in", () => {
      it("commits a write to disk for each try, even for an unknown account", async () => {
        const { email, session } = await registerAccount(app);
        await codeFor(email);
        const emailKey = email.toLowerCase();
        const unknown = { playerId: 0, emailKey: `${uniqueName()}@example.com` };
        for (const one of [{ playerId: session.player.id, emailKey }, unknown])
          await app.deps.em.transactional(async (em) => {
            const given = { ...one, hashes: ["wrong"], now: new Date(now), maxTries: 5 };
            assert.equal(await tryCode(em, given), null);
            // Only writing transactions have an id; the commit of others waits for nothing.
            const [row] = await rowsOf(
              em,
              sql`select pg_current_xact_id_if_assigned()::text as xid`,
            );
            assert.ok((row as { xid: string | null }).xid, one.emailKey);
          });
      });

      it("signs in, sets the cookie for 30 days, and verifies the address", async () => {
        const { email, session } = await registerAccount(app);
        assert.equal(session.player.email_verified_at, null);
        const code = await codeFor(email);
        assert.match(code, /^\d{6}$/);
        const answer = await verify(` ${email.toUpperCase()}`, code);
        assert.equal(answer.status, 200);
        assert.equal(answer.body.player.id, session.player.id);
        assert.ok(answer.body.player.email_verified_at);
        assert.match(answer.headers.get("set-cookie") ?? "", /Max-Age=2592000/);
        const stored = await app.deps.em.findOneOrFail(PlayerSchema, session.player.id);
        assert.ok(stored.emailVerifiedAt);
      });

      it("notifies the owner once that the address was verified", async () => {
        const { email } = await registerAccount(app);
        const notices = async (to: string) =>
          (await messagesTo(app.deps, to)).filter(
            ({ template }) => template === "address-confirmed",
          );
        for (const _ of [1, 2]) {
          assert.equal((await verify(email, await codeFor(email))).status, 200);
          assert.equal((await notices(email)).length, 1);
          now += 1_000;
        }
        assert.equal((await sentMessage(app.deps, email, "address-confirmed")).status, "sent");
        const bare = await registerAccount(app);
        await rowsOf(
          app.deps.em,
          sql`update players set password_hash = null where id = ${bare.session.player.id}`,
        );
        assert.equal((await verify(bare.email, await codeFor(bare.email))).status, 200);
        assert.equal((await notices(bare.email)).length, 1);
      });

      it("works once, even for fifty concurrent uses", async () => {
        const { email } = await registerAccount(app);
        const code = await codeFor(email);
        const answers = await Promise.all(Array.from({ length: 50 }, () => verify(email, code)));
        assert.deepEqual(tally(answers), { "200": 1, "401 auth:code_invalid": 49 });
      });
    });
    describe("tolerates wrong tries", () => {
      it("is rejected after five wrong tries, even when many arrive at once", async () => {
        const { email } = await registerAccount(app);
        const code = await codeFor(email);
        for (let i = 0; i < 4; i++) await verify(email, wrongFor(code));
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => verify(email, wrongFor(code))),
        );
        assert.deepEqual(tally(answers), { "401 auth:code_invalid": 10 });
        assert.equal((await verify(email, code)).code, "auth:code_invalid");
        assert.equal((await verify(email, await codeFor(email))).status, 200);
      });

      it("is accepted with spaces, dashes, other digits and marks around it", async () => {
        const decorate: ((code: string) => string)[] = [
          (code) => `${code.slice(0, 3)} ${code.slice(3)}`,
          (code) => `\u202a${code.slice(0, 3)}-${code.slice(3)}\u202c\n`,
          (code) => `\ufeff${code.slice(0, 3)}\u2011${code.slice(3)}\u200e`,
          (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
          (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0x0660 + Number(digit))),
          (code) => [...code].join("\u00a0"),
          (code) => `${code.slice(0, 3)}ー${code.slice(3)}`,
          (code) => `“${code.slice(0, 3)} ${code.slice(3)}”.`,
          (code) => `(${code}),`,
        ];
        for (const decorated of decorate) {
          const { email } = await registerAccount(app);
          const code = decorated(await codeFor(email));
          assert.equal((await verify(email, code)).status, 200, JSON.stringify(code));
        }
      });

      it("does not count a malformed code as a try", async () => {
        const { email } = await registerAccount(app);
        const code = await codeFor(email);
        const texts = [
          "12345",
          "1234567",
          "12345x",
          "123 45",
          "my code",
          "-",
          "1".repeat(5_000),
          "½23456",
        ];
        for (const text of [...texts, ...texts])
          assert.equal((await verify(email, text)).code, "auth:code_invalid", text.slice(0, 10));
        assert.equal((await verify(email, code)).status, 200);
      });

      it("still works after four wrong tries", async () => {
        const { email } = await registerAccount(app);
        const code = await codeFor(email);
        for (let i = 0; i < 4; i++) await verify(email, wrongFor(code));
        assert.equal((await verify(email, code)).status, 200);
      });
    });
    describe("expires", () => {
      it("is rejected after a newer one, after five minutes, and for another account", async () => {
        const { email } = await registerAccount(app);
        const other = await registerAccount(app);
        const first = await codeFor(email);
        let second = await codeFor(email);
        if (second === first) second = await codeFor(email);
        assert.equal((await verify(email, first)).code, "auth:code_invalid");
        await codeFor(other.email);
        assert.equal((await verify(other.email, second)).code, "auth:code_invalid");
        now += 5 * 60_000;
        assert.equal((await verify(email, second)).code, "auth:code_invalid");
      });

      it("is stored in a form that a reader of the database cannot use", async () => {
        const { email } = await registerAccount(app);
        const code = await codeFor(email);
        const rows = await rowsOf(
          app.deps.em,
          sql<{ row: string }>`select c::text as row from sign_in_codes c`,
        );
        assert.ok(rows.length > 0);
        for (const { row } of rows) assert.ok(!row.includes(code));
        const jobs = await app.deps.redis.keys("jobs:credential-requests:request-*");
        for (const key of jobs)
          assert.ok(!JSON.stringify(await app.deps.redis.hgetall(key)).includes(email));
      });

      it("ends the lock after failed logins", async () => {
        const { email, session } = await registerAccount(app);
        const login = (given: string) =>
          post(app, "/v1/gateway/login", { identifier: email, password: given });
        for (let i = 0; i < 5; i++) await login("no");
        assert.equal((await login(password)).code, "auth:locked");
        // In the session that set the password, which therefore survives.
        const given = { email, code: await codeFor(email) };
        assert.equal((await post(app, verifyPath, given, tokenOf(session))).status, 200);
        assert.equal((await login(password)).status, 200);
      });
    });
  });
  describe("requesting a sign-in code", () => {
    it("does the same work and returns the same for a known, an unknown and an impossible address", async () => {
      const { email } = await registerAccount(app);
      const guest = await enter(app);
      const unknown = `${uniqueName()}@example.com`;
      const shapes = [];
      for (const given of [
        email,
        unknown,
        `${guest.player.name}@example.com`,
        "no address",
        "x".repeat(5_000),
      ]) {
        const answer = await ask(given);
        const headers = [...answer.headers.keys()].filter((name) => name !== "x-request-id");
        shapes.push({ status: answer.status, body: answer.body, headers });
      }
      for (const shape of shapes) assert.deepEqual(shape, shapes[0]);
      assert.equal(shapes[0]?.status, 200);
      await requestsAreDone();
      assert.equal((await codesTo(email)).length, 1);
      assert.equal((await messagesTo(app.deps, unknown)).length, 0);
    });

    it("requires an address and a known channel", async () => {
      for (const email of [undefined, null, "", "  ", 7]) {
        const answer = await ask(email);
        assert.deepEqual([answer.status, answer.code], [400, "request:missing_field"]);
      }
      for (const channel of ["push", 7, "", {}]) {
        const answer = await ask("a@example.com", channel);
        assert.deepEqual([answer.status, answer.code], [422, "validation:failed"]);
        assert.equal(answer.json.flash?.violations?.[0]?.propertyPath, "channel");
      }
      for (const body of [{ email: "a@example.com" }, { code: "123456" }, {}]) {
        const answer = await post(app, verifyPath, body);
        assert.deepEqual([answer.status, answer.code], [400, "request:missing_field"]);
      }
      for (const code of ["12345", "abcdef", "1234567", "１２３４５６", "1".repeat(5_000)])
        assert.equal((await verify("a@example.com", code)).code, "auth:code_invalid");
    });

    it("sends a text message only to a verified number, and verifies no address that way", async () => {
      const { email, session } = await registerAccount(app);
      const phone = `+4915${String(session.player.id).padStart(9, "0")}`;
      const player = await app.deps.em.findOneOrFail(PlayerSchema, session.player.id);
      const write = (fields: object) =>
        app.deps.orm.em.fork().nativeUpdate(PlayerSchema, { id: player.id }, fields);
      await write({ phone });
      assert.equal((await ask(email, "sms")).status, 200);
      await requestsAreDone();
      assert.equal((await messagesTo(app.deps, phone)).length, 0);
      await write({ phoneVerifiedAt: new Date(now) });
      await ask(email, "sms");
      const message = await waitForMessage(phone);
      const answer = await verify(email, message.content.code ?? "");
      assert.equal(answer.status, 200);
      assert.equal(answer.body.player.email_verified_at, null);
    });

    it("sends at most five codes in a quarter of an hour, and the last one remains valid", async () => {
      const limited = await startApp({ env: { RATE_LIMIT_FACTOR: "1" } });
      try {
        const { email } = await registerAccount(limited);
        const { processors } = await import("../../../../workers/processors/index.ts");
        const { insertRequest } =
          await import("../../../../db/queries/sessions/credential-requests.ts");
        for (let i = 0; i < 8; i++) {
          const row = { purpose: "code", channel: "email", emailKey: email, realm: "x" } as const;
          const requestId = await insertRequest(limited.deps.em, row, {
            now: new Date(),
            maxWaiting: 10,
          });
          await processors["credential-requests"](
            { requestId: requestId ?? 0, round: 0 },
            limited.deps,
          );
        }
        const sent = (await messagesTo(limited.deps, email)).filter(
          ({ template }) => template === "sign-in-code",
        );
        assert.equal(sent.length, 5);
        const last = await sentMessage(limited.deps, email, "sign-in-code");
        const answer = await post(limited, verifyPath, { email, code: last.content.code });
        assert.equal(answer.status, 200);
        const asked = [];
        for (let i = 0; i < 7; i++)
          asked.push(await post(limited, requestPath, { email: "x@y.example" }));
        assert.deepEqual(tally(asked), { "200": 5, "429 rate_limit:exceeded": 2 });
        const wait = Number(asked.at(-1)?.headers.get("retry-after"));
        assert.ok(wait > 0 && wait <= 60);
      } finally {
        await limited.stop();
      }
    });
  });
  describe("a sign-in code after the clock was set back", () => {
    it("is issued again, regardless of the number issued before", async () => {
      const { email } = await registerAccount(app);
      const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1 };
      const bound = { maxWaiting: 10 };
      const request = { purpose: "code", channel: "email", emailKey: email, realm: "x" } as const;
      const requestRepeatedly = async () => {
        for (let i = 0; i < maxCodes + 1; i++) {
          const at = { ...bound, now: new Date(now) };
          const requestId = (await insertRequest(app.deps.em, request, at)) ?? assert.fail();
          await answerRequest({ requestId, round: 0 }, { ...app.deps, config });
        }
        return (await codesTo(email)).length;
      };
      assert.equal(await requestRepeatedly(), maxCodes);
      now -= 86_400_000;
      assert.equal(await requestRepeatedly(), 2 * maxCodes);
    });
  });
});

async function waitForMessage(to: string) {
  return sentMessage(app.deps, to, "sign-in-code-sms");
}
