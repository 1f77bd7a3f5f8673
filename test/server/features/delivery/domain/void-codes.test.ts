import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { PlayerSchema } from "../../../../../db/entities/player.ts";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import { deliverMessage } from "../../../../../server/features/delivery/domain/deliver.ts";
import { writeMessage } from "../../../../../server/features/delivery/domain/send.ts";
import { Fault } from "../../../../../server/platform/faults/fault.ts";
import { answerRequest } from "../../../../../workers/processors/credential-requests.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { password, post, registerAccount, tokenOf } from "../../../../support/identity.ts";
import { messagesTo } from "../../../../support/messages.ts";

let app: App;
let isDown = false;
/** Texts that left, oldest first. */
const sent: string[] = [];

const send = ({ text }: { text: string }) => {
  if (isDown) return Promise.reject(new Fault("smtp.unreachable"));
  sent.push(text);
  return Promise.resolve();
};
const driver = { name: "planted", keepsContent: false, send, close: () => {} };
const deps = () => ({
  ...app.deps,
  em: app.deps.orm.em.fork(),
  senders: { mail: driver, sms: driver },
});

/** What the job worker would do: answers requests for codes, then makes one attempt at each message. */
async function work(to: string): Promise<void> {
  const requests = await rowsOf(
    app.deps.em,
    sql<{ id: number }>`select id from credential_requests order by id`,
  );
  for (const { id } of requests) await answerRequest({ requestId: id, round: 0 }, deps());
  for (const { id } of await messagesTo(app.deps, to))
    await deliverMessage(deps(), id).catch((error: unknown) => {
      assert.ok(isDown && error instanceof Fault);
    });
}

/** Asks three times while the receiving server is down; returns the texts that arrive once it is back. */
async function afterOutage(to: string, ask: () => Promise<unknown>): Promise<string[]> {
  sent.length = 0;
  isDown = true;
  for (let i = 0; i < 3; i++) {
    await ask();
    await work(to);
  }
  isDown = false;
  await work(to);
  return [...sent];
}

const codeIn = (text = "") => /\b\d{6}\b/.exec(text)?.[0] ?? "";
const tokenIn = (text = "") =>
  new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? "").searchParams.get("token") ?? "";
const statesOf = async (to: string, template: string) =>
  (await messagesTo(app.deps, to))
    .filter((one) => one.template === template)
    .map(({ status }) => status);
const onlyNewest = ["expired", "expired", "sent"];

describe("after an outage of the mail server", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  describe("one code or link arrives, and it works", () => {
    it("sign-in code by mail", async () => {
      const { email } = await registerAccount(app);
      await work(email);
      const [text, ...more] = await afterOutage(email, () =>
        post(app, "/v1/gateway/code/request", { email }),
      );
      assert.deepEqual(more, []);
      assert.deepEqual(await statesOf(email, "sign-in-code"), onlyNewest);
      const answer = await post(app, "/v1/gateway/code/verify", { email, code: codeIn(text) });
      assert.equal(answer.status, 200);
    });

    it("phone code, and sign-in code by text message", async () => {
      const { email, session } = await registerAccount(app);
      const headers = tokenOf(session);
      const phone = "+4915100000001";
      const [text, ...more] = await afterOutage(phone, () =>
        post(app, "/v1/users/@me/phone", { phone }, headers),
      );
      assert.deepEqual(more, []);
      assert.deepEqual(await statesOf(phone, "phone-code"), onlyNewest);
      const code = codeIn(text);
      assert.equal((await post(app, "/v1/users/@me/phone/verify", { code }, headers)).status, 200);

      const [signIn, ...others] = await afterOutage(phone, () =>
        post(app, "/v1/gateway/code/request", { email, channel: "sms" }),
      );
      assert.deepEqual(others, []);
      assert.deepEqual(await statesOf(phone, "sign-in-code-sms"), onlyNewest);
      const entry = { email, code: codeIn(signIn) };
      assert.equal((await post(app, "/v1/gateway/code/verify", entry)).status, 200);
    });

    it("reset link", async () => {
      const { email } = await registerAccount(app);
      await work(email);
      const [text, ...more] = await afterOutage(email, () =>
        post(app, "/v1/gateway/reset-password/request", { email }),
      );
      assert.deepEqual(more, []);
      assert.deepEqual(await statesOf(email, "reset-password"), onlyNewest);
      const entry = { token: tokenIn(text), password: "another horse 2" };
      assert.equal((await post(app, "/v1/gateway/reset-password", entry)).status, 200);
    });

    it("link of the mailing list", async () => {
      const email = "reader@example.com";
      const [text, ...more] = await afterOutage(email, () => post(app, "/v1/subscribe", { email }));
      assert.deepEqual(more, []);
      assert.deepEqual(await statesOf(email, "subscribe-verify"), onlyNewest);
      const query = new URLSearchParams({ email, token: tokenIn(text) }).toString();
      const answer = await app.client.get(`/v1/verify?${query}`);
      assert.equal(answer.headers.get("location"), "/status/verify?result=success");
    });
  });
  describe("a void code or link is not sent", () => {
    const verify = (token: string) => post(app, "/v1/users/email/verify", { token });

    it("verification that a resent one replaced", async () => {
      const { email, session } = await registerAccount(app);
      const resend = "/v1/users/@me/email/resend-verification";
      assert.equal((await post(app, resend, undefined, tokenOf(session))).status, 204);
      sent.length = 0;
      await work(email);
      assert.deepEqual(sent, []);
      assert.deepEqual(await statesOf(email, "verify-email"), ["expired", "sent"]);
      const [late, newest] = await messagesTo(app.deps, email);
      assert.deepEqual([late?.sealed, late?.error], [null, "its code or link is void"]);
      assert.equal((await verify(tokenIn(newest?.content?.text))).status, 200);
    });

    it("verification of an address that the account no longer has", async () => {
      const { email, session } = await registerAccount(app);
      const other = `other-${email}`;
      const token = session.access_token;
      await app.client.patch("/v1/users/@me", { token, body: { email: other } });
      await work(email);
      assert.deepEqual(await statesOf(email, "verify-email"), ["expired"]);
      sent.length = 0;
      await work(other);
      assert.equal((await verify(tokenIn(sent[0]))).status, 200);
    });

    it("reset link of a password that was changed since", async () => {
      const { email, session } = await registerAccount(app);
      await post(app, "/v1/gateway/reset-password/request", { email });
      isDown = true;
      await work(email);
      isDown = false;
      const passwordHash = await app.deps.passwords.hash(`${password}!`);
      await app.deps.em.nativeUpdate(PlayerSchema, session.player.id, { passwordHash });
      await work(email);
      assert.deepEqual(await statesOf(email, "reset-password"), ["expired"]);
    });

    it("sign-in code after five wrong tries", async () => {
      const { email } = await registerAccount(app);
      await post(app, "/v1/gateway/code/request", { email });
      isDown = true;
      await work(email);
      isDown = false;
      for (let i = 0; i < 5; i++) {
        const answer = await post(app, "/v1/gateway/code/verify", { email, code: `00000${i}` });
        assert.equal(answer.code, "auth:code_invalid");
      }
      await work(email);
      assert.deepEqual(await statesOf(email, "sign-in-code"), ["expired"]);
    });

    it("and every refusal of a code says to use the newest message", async () => {
      const { session } = await registerAccount(app);
      const refusals = await Promise.all([
        post(app, "/v1/gateway/code/verify", { email: "nobody@example.com", code: "123456" }),
        post(app, "/v1/gateway/code/verify", { email: "nobody@example.com", code: "x" }),
        post(app, "/v1/users/@me/phone/verify", { code: "123456" }, tokenOf(session)),
        post(app, "/v1/users/@me/phone/verify", { code: "x" }, tokenOf(session)),
      ]);
      const texts = refusals.map(({ json }) => JSON.stringify(json.flash?.errors));
      for (const text of texts)
        assert.match(text, /wrong, expired or was replaced by a newer one\. Use the newest/);
    });

    it("but a message of an earlier release, which does not name what makes it valid, is", async () => {
      const to = "earlier@example.com";
      const params = { code: "480213" };
      await writeMessage(app.deps.em, app.deps, {
        template: "sign-in-code",
        to,
        locale: "en",
        params,
      });
      await work(to);
      assert.deepEqual(await statesOf(to, "sign-in-code"), ["sent"]);
    });
  });
});
