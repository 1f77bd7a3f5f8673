import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../db/queries/rows.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { sendMessage, writeMessage } from "../../server/features/delivery/domain/send.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { schedules, startSchedules } from "../../workers/schedules.ts";
import { startApp, type App } from "../support/app.ts";
import { messagesTo } from "../support/messages.ts";

interface Received {
  headers: IncomingMessage["headers"];
  body: { id: string; to: string; text: string };
}

let app: App;
let queues: Queues;
let webhook: Server;
let status = 200;
let now = Date.now();
const received: Received[] = [];

const sms = (to: string) =>
  ({ template: "phone-code", to, locale: "en", params: { code: "246802" } }) as const;

const queue = () => {
  const found = queues.all().find(({ name }) => name === "mail");
  assert.ok(found);
  return found;
};

/** Polls until the only message to a number and its job have these states. */
const until = async (to: string, wanted: string, state: string) => {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const [message] = await messagesTo(app.deps, to);
    // A restarted store is not immediately reachable.
    const job = await queue()
      .getJob(`message-${message?.id}-0`)
      .catch(() => null);
    const jobState = await job?.getState().catch(() => "unknown");
    const seen = `${message?.status} ${jobState}`;
    if (message && job && seen === `${wanted} ${state}`) return { message, job };
    assert.ok(performance.now() < deadline, `${to} is ${seen}, not ${wanted} ${state}`);
    await new Promise((done) => setTimeout(done, 20));
  }
};

describe("the message queue", () => {
  before(async () => {
    webhook = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        received.push({ headers: request.headers, body: JSON.parse(text) as Received["body"] });
        response.writeHead(status, { Location: "http://127.0.0.1:1/elsewhere" }).end();
      });
    });
    webhook.listen(0, "127.0.0.1");
    await once(webhook, "listening");
    const { port } = webhook.address() as AddressInfo;
    app = await startApp({
      clock: { now: () => now },
      env: { SMS_WEBHOOK_URL: `http://me:p%40ss@127.0.0.1:${port}/sms` },
    });
    queues = createQueues(app.deps.config.REDIS_URL, silentLogger);
  });
  after(async () => {
    await queues.close();
    await app.stop();
    webhook.close();
    webhook.closeAllConnections();
  });

  describe("delivers", () => {
    it("posts a text message to the webhook, and keeps none of it", async () => {
      await sendMessage(app.deps, sms("+491"));
      const { message } = await until("+491", "sent", "completed");
      const last = received.at(-1);
      assert.deepEqual(last?.body, {
        id: `message-${message.id}`,
        to: "+491",
        text: "emberline: 246802 confirms this number.",
      });
      assert.equal(last.headers["idempotency-key"], `message-${message.id}`);
      assert.equal(last.headers.authorization, `Basic ${btoa("me:p@ss")}`);
      assert.equal(message.content, null);
      assert.equal(message.sealed, null);
    });

    it("retries after a failure with the same id", async () => {
      status = 503;
      await sendMessage(app.deps, sms("+492"));
      const { message, job } = await until("+492", "queued", "delayed");
      assert.match(message.error ?? "", /^sms\.status 503 at 127\.0\.0\.1:\d+$/);
      status = 204;
      await job.promote();
      await until("+492", "sent", "completed");
      const ids = received.slice(-2).map(({ body }) => body.id);
      assert.deepEqual(ids, [`message-${message.id}`, `message-${message.id}`]);
    });

    it("keeps a refused message as a dead letter without its secret, until an operator retries it", async () => {
      status = 400;
      await sendMessage(app.deps, sms("+493"));
      const { job } = await until("+493", "failed", "failed");
      const [failed] = await queue().getFailed();
      assert.equal(failed?.id, job.id);
      assert.doesNotMatch(JSON.stringify(failed?.toJSON()), /246802|\+493/);
      status = 200;
      await job.retry();
      await until("+493", "sent", "completed");
    });

    it("does not follow a redirect", async () => {
      status = 302;
      await sendMessage(app.deps, sms("+494"));
      const { message } = await until("+494", "queued", "delayed");
      assert.match(message.error ?? "", /^sms\.status 302 at 127\.0\.0\.1:\d+$/);
      status = 200;
    });
  });
  describe("recovers from failures", () => {
    it("queues messages again whose job was lost, and drops those that are too late", async () => {
      await writeMessage(app.deps.em, app.deps, sms("+495"));
      await maintain({ task: "messages" }, app.deps);
      assert.equal((await messagesTo(app.deps, "+495"))[0]?.status, "queued");
      now += 4 * 60_000 + 1_000;
      await maintain({ task: "messages" }, app.deps);
      const deadline = performance.now() + 60_000;
      while ((await messagesTo(app.deps, "+495"))[0]?.status !== "sent") {
        assert.ok(performance.now() < deadline);
        await new Promise((done) => setTimeout(done, 20));
      }
      await writeMessage(app.deps.em, app.deps, sms("+496"));
      now += 5 * 60_000;
      await maintain({ task: "messages" }, app.deps);
      const [late] = await messagesTo(app.deps, "+496");
      assert.deepEqual([late?.status, late?.sealed], ["expired", null]);
    });

    it("sends a message written during a Redis outage as soon as Redis is back", async () => {
      await app.stores.redis.kill();
      await sendMessage(app.deps, sms("+491700000077"));
      const [waiting] = await messagesTo(app.deps, "+491700000077");
      assert.equal(waiting?.status, "queued");
      await app.stores.redis.restart();
      await until("+491700000077", "sent", "completed");
    });

    it("deletes old messages, and addresses that were never verified", async () => {
      const { em } = app.deps;
      const add = (email: string, verified: boolean) =>
        rowsOf(
          em,
          sql`insert into subscribers (email, email_key, verified_at, created_at, updated_at) values
          (${email}, ${email}, ${verified ? new Date(now) : null}, ${new Date(now)}, ${new Date(now)})`,
        );
      await add("never@example.com", false);
      await add("yes@example.com", true);
      await rowsOf(
        em,
        sql`insert into messages (kind, template, locale, recipient, status, content, created_at, expires_at)
        select 'mail', 'x', 'en', 'many@example.com', 'sent', '{}', ${new Date(now)}, now()
        from generate_series(1, 1005)`,
      );
      await maintain({ task: "messages" }, app.deps);
      assert.equal((await messagesTo(app.deps, "many@example.com")).length, 1_000);
      now += 30 * 86_400_000;
      await maintain({ task: "messages" }, app.deps);
      assert.equal((await messagesTo(app.deps, "many@example.com")).length, 0);
      const left = await rowsOf(em, sql<{ email: string }>`select email from subscribers`);
      assert.deepEqual(left, [{ email: "yes@example.com" }]);
    });

    it("is cleaned up by one job schedule, however many processes request it", async () => {
      await Promise.all([startSchedules(queues), startSchedules(queues)]);
      const maintenance = queues.all().find(({ name }) => name === "maintenance");
      const schedulers = await maintenance?.getJobSchedulers();
      assert.deepEqual(
        schedulers?.map(({ every }) => every).toSorted(),
        schedules.map(({ everyMs }) => everyMs).toSorted(),
      );
    });
  });
});
