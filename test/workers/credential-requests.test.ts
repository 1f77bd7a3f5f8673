import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { PlayerSchema } from "../../db/entities/player.ts";
import { lockAccount } from "../../db/queries/accounts/accounts.ts";
import { insertRequest } from "../../db/queries/sessions/credential-requests.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { writeMessage } from "../../server/features/delivery/domain/send.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { answerRequest } from "../../workers/processors/credential-requests.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { credentialRequests } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { password, post, registerAccount, uniqueName } from "../support/identity.ts";
import { untilOneWaits } from "../support/locks.ts";
import { eventually } from "../support/eventually.ts";
import { messagesTo } from "../support/messages.ts";

const clock = manualClock();
let app: App;

const waiting = () =>
  rowsOf(app.deps.em, sql<{ id: number }>`select id from credential_requests order by id`);

const codesTo = async (email: string) =>
  (await messagesTo(app.deps, email)).filter(({ template }) => template === "sign-in-code");

const ask = (email: string) => post(app, "/v1/gateway/code/request", { email });
const forget = () => rowsOf(app.deps.em, sql`delete from credential_requests`);

describe("credential requests", () => {
  before(async () => {
    app = await startApp({ clock, hasJobs: false });
    // A request that cannot reach the queue within 2 s is left to the clean-up, as on a machine that is busy.
    const job = { requestId: 0, round: 0 };
    await eventually("the queue is open", () =>
      app.deps.enqueue(credentialRequests, job, noOrigin).then(
        () => true,
        () => false,
      ),
    );
  });
  after(() => app.stop());

  describe("a request for a code or a reset", () => {
    it("leaves the same records for a known and an unknown address", async () => {
      await forget();
      const { email } = await registerAccount(app);
      const left = [];
      for (const given of [email, `${uniqueName()}@example.com`]) {
        const jobs = (await app.deps.redis.keys("jobs:credential-requests:request-*")).length;
        await ask(given);
        await post(app, "/v1/gateway/reset-password/request", { email: given });
        const added =
          (await app.deps.redis.keys("jobs:credential-requests:request-*")).length - jobs;
        left.push([(await waiting()).length, added]);
      }
      assert.deepEqual(left, [
        [2, 2],
        [4, 2],
      ]);
      assert.equal((await codesTo(email)).length, 0, "the address is looked up by the job alone");
    });

    it("is answered once, however often and concurrently its job runs", async () => {
      await forget();
      const { email } = await registerAccount(app);
      await ask(email);
      const [request] = await waiting();
      const job = { requestId: request?.id ?? 0, round: 0 };
      const run = () => answerRequest(job, { ...app.deps, em: app.deps.orm.em.fork() });
      await Promise.all([run(), run(), run()]);
      await run();
      assert.equal((await codesTo(email)).length, 1);
      assert.equal((await waiting()).length, 0);
    });

    it("for an address that the account is just changing sends nothing", async () => {
      await forget();
      const { email, session } = await registerAccount(app);
      await ask(email);
      await post(app, "/v1/gateway/reset-password/request", { email });
      const known = (await messagesTo(app.deps, email)).length;
      for (const { id } of await waiting()) {
        const { em } = app.deps;
        const { answered } = await em.transactional(async (inner) => {
          const account = (await lockAccount(inner, session.player.id)) ?? assert.fail();
          const work = answerRequest({ requestId: id, round: 0 }, { ...app.deps, em: em.fork() });
          await untilOneWaits(em);
          const other = `${uniqueName()}@example.com`;
          Object.assign(account, { email: other, emailKey: other });
          return { answered: work };
        });
        await answered;
        assert.equal((await messagesTo(app.deps, email)).length, known);
        const back = { email, emailKey: email };
        await em.nativeUpdate(PlayerSchema, { id: session.player.id }, back);
      }
    });

    it("keeps earlier codes valid when no new message is sent", async () => {
      await forget();
      const { email } = await registerAccount(app);
      const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1 };
      const deps = { ...app.deps, em: app.deps.orm.em.fork(), config };
      const requestBoth = async () => {
        await ask(email);
        await post(app, "/v1/gateway/reset-password/request", { email });
        for (const { id } of await waiting())
          await answerRequest({ requestId: id, round: 0 }, deps);
        const kept = sql`select code_hash from sign_in_codes where email_key = ${email}
        union all select r.token_hash from password_resets r join players p on p.id = r.player_id
          where p.email_key = ${email}`;
        return rowsOf(deps.em, kept);
      };
      const sent = await requestBoth();
      assert.equal(sent.length, 2);
      const code = {
        template: "sign-in-code",
        to: email,
        locale: "en",
        params: { code: "1" },
      } as const;
      while ((await writeMessage(deps.em, deps, code)) !== null);
      const all = (await messagesTo(deps, email)).length;
      assert.deepEqual(await requestBoth(), sent);
      assert.equal((await messagesTo(deps, email)).length, all);
    });

    it("that is processed too late is dropped", async () => {
      const { email } = await registerAccount(app);
      await ask(email);
      clock.advance(16 * 60_000);
      for (const { id } of await waiting())
        await answerRequest(
          { requestId: id, round: 0 },
          { ...app.deps, em: app.deps.orm.em.fork() },
        );
      assert.equal((await codesTo(email)).length, 0);
    });

    it("is queued again when its job was lost", async () => {
      await forget();
      await ask(`${uniqueName()}@example.com`);
      await app.deps.redis.flushall();
      const queued = () => app.deps.redis.keys("jobs:credential-requests:request-*");
      const cleanUp = () =>
        maintain({ task: "credentials" }, { ...app.deps, em: app.deps.orm.em.fork() });
      await cleanUp();
      assert.equal((await queued()).length, 0, "its job may still come");
      clock.advance(61_000);
      await cleanUp();
      await cleanUp();
      assert.equal((await queued()).length, 1);
    });

    it("is dropped without an error to the caller when too many wait", async () => {
      await forget();
      const row = {
        purpose: "code",
        channel: "email",
        emailKey: "a@b.example",
        realm: "x",
      } as const;
      const add = () => insertRequest(app.deps.em, row, { now: new Date(), maxWaiting: 3 });
      const ids = [await add(), await add(), await add(), await add()];
      assert.deepEqual(
        ids.map((id) => id !== null),
        [true, true, true, false],
      );
      assert.equal(credentialRequests.jobId({ requestId: 7, round: 1 }), "request-7-1");
    });

    it("leaves no permanent records: used and expired credentials are deleted", async () => {
      await registerAccount(app);
      clock.advance(200 * 86_400_000);
      await maintain({ task: "credentials" }, { ...app.deps, em: app.deps.orm.em.fork() });
      for (const table of ["sign_in_codes", "password_resets", "used_tokens", "token_families"]) {
        const rows = await rowsOf(app.deps.em, sql`select 1 from ${sql.table(table)}`);
        assert.equal(rows.length, 0, table);
      }
    });
  });
  describe("a login with an unknown name", () => {
    it("costs one password check, like that of a known account", async () => {
      const { email } = await registerAccount(app);
      const { passwords } = app.deps;
      const verify = passwords.verify.bind(passwords);
      const work: string[] = [];
      passwords.verify = async (hash, given) => {
        work.push(hash === null ? "dummy" : "own");
        return verify(hash, given);
      };
      try {
        for (const identifier of [email, uniqueName(), `${uniqueName()}@example.com`])
          await post(app, "/v1/gateway/login", { identifier, password: `${password}!` });
      } finally {
        passwords.verify = verify;
      }
      assert.deepEqual(work, ["own", "dummy", "dummy"]);
    });
  });
});
