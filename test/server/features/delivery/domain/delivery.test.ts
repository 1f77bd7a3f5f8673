import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../../db/queries/rows.ts";
import {
  parseDatabaseUrl,
  withDatabase,
} from "../../../../../server/platform/postgres/database-url.ts";
import { deliverMessage, leaseMs } from "../../../../../server/features/delivery/domain/deliver.ts";
import {
  maxMessagesPerHour,
  maxWaitingMessages,
  sendMessage,
  sendNow,
  writeMessage,
} from "../../../../../server/features/delivery/domain/send.ts";
import type { NewMessage } from "../../../../../server/features/delivery/domain/templates.ts";
import { withClient } from "../../../../../server/runtime/stores/postgres.ts";
import type { OutgoingMail } from "../../../../../server/features/delivery/providers/messages.ts";
import { Fault } from "../../../../../server/platform/faults/fault.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { messagesTo, sentMessage } from "../../../../support/messages.ts";

const code = (to: string) =>
  ({ template: "sign-in-code", to, locale: "de", params: { code: "480213" } }) as const;

let app: App;
let now = Date.now();
let recipients = 0;
const someone = () => `someone-${++recipients}@example.com`;

/** The service with a driver that records messages, and fails on request. */
const withDriver = (send: (mail: OutgoingMail) => Promise<void>) => ({
  ...app.deps,
  em: app.deps.em,
  senders: {
    ...app.deps.senders,
    mail: { name: "planted", keepsContent: false, send, close: () => {} },
  },
});

const write = async (to: string) => {
  const id = await writeMessage(app.deps.em, app.deps, code(to));
  assert.ok(id !== null);
  return id;
};

const only = async (to: string) => {
  const [message, ...more] = await messagesTo(app.deps, to);
  assert.ok(message);
  assert.equal(more.length, 0);
  return message;
};

describe("a message", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now }, env: { RATE_LIMIT_FACTOR: "1" } });
  });
  after(() => app.stop());

  describe("is sent once", () => {
    it("goes through the queue to the inbox, in the recipient's language", async () => {
      const to = someone();
      await sendMessage(app.deps, code(to));
      const { content, sealed } = await sentMessage(app.deps, to, "sign-in-code");
      assert.equal(content.subject, "Dein Anmeldecode");
      assert.equal(content.code, "480213");
      assert.equal(sealed, null);
    });

    it("shows its code neither in the database nor in its job before it is sent", async () => {
      const to = someone();
      const id = await write(to);
      const rows = await rowsOf(app.deps.em, sql`select * from messages where id = ${id}`);
      assert.doesNotMatch(JSON.stringify(rows), /480213/);
      await sendMessage(app.deps, code(someone()));
      const keys = await app.deps.redis.keys("jobs:mail:*");
      const jobs = keys.filter((key) => /:message-\d+-\d+$/.test(key));
      assert.ok(jobs.length > 0);
      for (const job of jobs)
        assert.doesNotMatch(JSON.stringify(await app.deps.redis.hgetall(job)), /480213|someone/);
    });

    it("is sent once, whatever the number of its jobs", async () => {
      const to = someone();
      const id = await write(to);
      const sent: string[] = [];
      const open = Promise.withResolvers<void>();
      const deps = withDriver(async (mail) => {
        sent.push(mail.id);
        await open.promise;
      });
      const attempts = [1, 2, 3, 4, 5].map(() =>
        deliverMessage({ ...deps, em: app.deps.orm.em.fork() }, id).catch(
          (error: unknown) => error,
        ),
      );
      const refused = await Promise.any(
        attempts.map(async (attempt) => {
          const error = await attempt;
          assert.ok(error instanceof Fault);
          return error;
        }),
      );
      assert.match(refused.message, /another process/);
      open.resolve();
      await Promise.all(attempts);
      await deliverMessage(deps, id);
      assert.deepEqual(sent, [`message-${id}`]);
      assert.equal((await only(to)).status, "sent");
    });

    it("is retried under the same id when the sending process died", async () => {
      const to = someone();
      const id = await write(to);
      const sent: string[] = [];
      const frozen = Promise.withResolvers<void>();
      const early = deliverMessage(
        withDriver(() => frozen.promise),
        id,
      );
      while ((await only(to)).status !== "sending")
        await new Promise((done) => setTimeout(done, 5));
      const deps = withDriver(async (mail) => void sent.push(mail.id));
      await assert.rejects(deliverMessage(deps, id), { code: "delivery.in_progress" });
      now += leaseMs + 1_000;
      await deliverMessage(deps, id);
      assert.deepEqual(sent, [`message-${id}`]);
      frozen.reject(new Fault("smtp.timeout", { text: "thawed" }));
      await assert.rejects(early, { message: "smtp.timeout: thawed" });
      assert.equal((await only(to)).status, "sent");
    });

    it("is not sent again when the database fails before it is marked as sent", async () => {
      const to = someone();
      const id = await write(to);
      const { databaseUrl } = app.stores;
      const name = parseDatabaseUrl(databaseUrl).database;
      const inPostgres = (statement: string) =>
        withClient(withDatabase(databaseUrl, "postgres"), (client) => client.query(statement));
      const open = (isOpen: boolean) =>
        inPostgres(`alter database ${name} with allow_connections ${isOpen}`);
      const sent: string[] = [];
      const deps = withDriver(async (mail) => {
        sent.push(mail.id);
        await open(false);
        await inPostgres(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        );
      });
      const failed = Promise.withResolvers<void>();
      const log = Object.assign(Object.create(app.deps.log), { warn: () => failed.resolve() });
      const delivered = deliverMessage({ ...deps, log }, id);
      await Promise.race([failed.promise, delivered]).finally(() => open(true));
      await delivered;
      assert.equal((await only(to)).status, "sent");
      now += leaseMs + 1_000;
      await deliverMessage(deps, id);
      assert.deepEqual(sent, [`message-${id}`]);
    });
  });
  describe("that could not be sent", () => {
    it("becomes a dead letter after five attempts, and an operator can retry it", async () => {
      const to = someone();
      const id = await write(to);
      const failing = withDriver(() => Promise.reject(new Fault("smtp.deferred", { status: 451 })));
      const statuses: string[] = [];
      for (let attempt = 0; attempt < 5; attempt++) {
        await assert.rejects(deliverMessage(failing, id), { message: "smtp.deferred 451" });
        statuses.push((await only(to)).status);
      }
      assert.deepEqual(statuses, ["queued", "queued", "queued", "queued", "failed"]);
      assert.equal((await only(to)).error, "smtp.deferred 451");
      await deliverMessage(app.deps, id);
      assert.equal((await only(to)).status, "sent");
    });

    it("becomes a dead letter at once after a permanent refusal", async () => {
      const to = someone();
      const id = await write(to);
      const refusing = withDriver(() =>
        Promise.reject(new Fault("smtp.refused", { isPermanent: true })),
      );
      await assert.rejects(deliverMessage(refusing, id), { isPermanent: true });
      assert.equal((await only(to)).status, "failed");
    });

    it("is not sent after it expired", async () => {
      const to = someone();
      const id = await write(to);
      now += 5 * 60_000;
      await deliverMessage(
        withDriver(() => assert.fail("sent too late")),
        id,
      );
      const { status, sealed } = await only(to);
      assert.deepEqual({ status, sealed }, { status: "expired", sealed: null });
    });
  });
  describe("is stored and sent safely", () => {
    it("cannot be decrypted with another secret, and records that error", async () => {
      const to = someone();
      const id = await write(to);
      const config = { ...app.deps.config, APP_SECRET: "another secret of more than 32 bytes!" };
      await assert.rejects(deliverMessage({ ...app.deps, config }, id), { isPermanent: true });
      assert.equal((await only(to)).error, "delivery.unreadable: sealed with another secret");
      const rotated = { ...config, APP_SECRET_PREVIOUS: app.deps.config.APP_SECRET };
      await deliverMessage({ ...app.deps, config: rotated }, id);
      assert.equal((await only(to)).status, "sent");
    });

    it("exists only if its transaction is committed", async () => {
      const to = someone();
      const failure = new Error("no");
      await assert.rejects(
        app.deps.em.transactional(async (em) => {
          await writeMessage(em, app.deps, code(to));
          throw failure;
        }),
        failure,
      );
      assert.deepEqual(await messagesTo(app.deps, to), []);
    });

    it("sent within a request reports a failure at once, and is not retried", async () => {
      const to = someone();
      const failing = withDriver(() => Promise.reject(new Fault("smtp.unreachable")));
      await assert.rejects(sendNow(failing, code(to)), { code: "mail:delivery_failed" });
      assert.equal((await only(to)).status, "failed");
      await sendNow(app.deps, code(to));
      assert.equal((await messagesTo(app.deps, to)).at(-1)?.status, "sent");
    });
  });
  describe("is one of many", () => {
    it(`goes to one address at most ${maxMessagesPerHour} times an hour`, async () => {
      const to = someone();
      const ids: (number | null)[] = [];
      for (let i = 0; i <= maxMessagesPerHour; i++)
        ids.push(await writeMessage(app.deps.em, app.deps, code(to)));
      assert.equal(ids.filter((id) => id !== null).length, maxMessagesPerHour);
      assert.equal(ids.at(-1), null);
      assert.notEqual(await writeMessage(app.deps.em, app.deps, code(someone())), null);
      now -= 86_400_000;
      assert.notEqual(await writeMessage(app.deps.em, app.deps, code(to)), null);
      now += 86_400_000 + 3_600_000;
      assert.notEqual(await writeMessage(app.deps.em, app.deps, code(to)), null);
    });

    it("about an account change is accepted even when the hourly limit is reached", async () => {
      const to = someone();
      const notice = { template: "password-changed", to, locale: "en", params: {} } as const;
      const fill = async (message: NewMessage) => {
        while ((await writeMessage(app.deps.em, app.deps, message)) !== null);
        return (await messagesTo(app.deps, to)).length;
      };
      assert.equal(await fill(code(to)), maxMessagesPerHour);
      assert.equal(await fill(notice), 2 * maxMessagesPerHour);
    });

    it(`is dropped while ${maxWaitingMessages} others are queued`, async () => {
      const { em } = app.deps;
      await rowsOf(
        em,
        sql`insert into messages (kind, template, locale, recipient, created_at, expires_at)
        select 'mail', 'flood', 'en', 'flood@example.com', now(), now()
        from generate_series(1, ${maxWaitingMessages})`,
      );
      const to = someone();
      await sendMessage(app.deps, code(to));
      assert.deepEqual(await messagesTo(app.deps, to), []);
      await rowsOf(em, sql`delete from messages where template = 'flood'`);
      await write(to);
    });
  });
});
