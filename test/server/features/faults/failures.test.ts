import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createSmtpMailer } from "../../../../server/features/delivery/providers/mailer.ts";
import { sendMessage } from "../../../../server/features/delivery/domain/send.ts";
import {
  templates,
  type NewMessage,
} from "../../../../server/features/delivery/domain/templates.ts";
import { createFaultStore } from "../../../../server/features/faults/domain/fault-store.ts";
import type { FaultStore, StoredGroup } from "../../../../server/platform/faults/store.ts";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { createLogger } from "../../../../server/platform/log/logger.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { questionGeneration } from "../../../../workers/queues.ts";
import { startApp, type App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { startMailServer, type MailServer } from "../../../support/mail-server.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";

const secretCode = "246802";
const secretToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl";
const values: Readonly<Record<string, string>> = {
  code: secretCode,
  link: `https://ember.example/reset-password?token=${secretToken}`,
  unsubscribe: `https://ember.example/v1/unsubscribe?email=ada%40example.com&token=${secretToken}`,
};

let app: App;
let store: FaultStore;
let mails: MailServer;
let other: { url: string; requests: string[]; stop(): Promise<void> };
const lines: string[] = [];

/** Another service: it fails, and repeats in its words what it was sent. */
async function startOther(): Promise<typeof other> {
  const requests: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    requests.push(text);
    response.statusCode = request.url?.startsWith("/picture") ? 404 : 500;
    response.end(`<h1>broken</h1> ${text}`);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

const find = async (is: (group: StoredGroup) => boolean): Promise<StoredGroup> => {
  let found: StoredGroup | undefined;
  await eventually("a group", async () => {
    found = (await store.list()).groups.find(is);
    return found !== undefined;
  });
  return found ?? assert.fail();
};

const send = (message: NewMessage) => sendMessage(app.deps, message);
const generation = (request: string) => ({
  ...{ category: "history", difficulty: "medium", pool: "both" as const, prompt: null },
  ...{ model: null, count: 1, request },
});

describe("failures of other services", () => {
  before(async () => {
    other = await startOther();
    mails = await startMailServer({ disabledCommands: ["STARTTLS"] });
    const config = parseConfig({ LOG_LEVEL: "info" });
    app = await startApp({
      log: createLogger(config, "test", { write: (line) => void lines.push(line) }),
      env: {
        GENERATOR_URL: other.url,
        GENERATOR_VERIFY: "false",
        AVATAR_MODERATION: "webhook",
        AVATAR_MODERATION_URL: other.url,
        AVATAR_CDN_HOSTS: "127.0.0.1",
        SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
        SMS_WEBHOOK_URL: other.url,
      },
    });
    store = createFaultStore(app.deps.redis, systemClock);
  });
  after(async () => {
    await app.stop();
    await mails.stop();
    await other.stop();
  });

  describe("become groups", groups);
  describe("are masked", masked);
});

function groups(): void {
  const peer = () => other.url.slice("http://".length);

  it("when the generator answers 500, although the job ends well with the bank's questions", async () => {
    const payload = generation("one");
    assert.equal(
      await app.deps.enqueueAndWait(questionGeneration, payload, noOrigin, 20_000),
      true,
    );
    const { key, example } = await find(({ key: { code } }) => code === "generator.status");
    assert.deepEqual(
      [key.kind, key.place, key.peer, key.status],
      ["degraded", "question-generator", peer(), 500],
    );
    assert.match(example?.text ?? "", /broken/);
  });

  it("when the moderation answers 500, and the picture goes to manual review", async () => {
    const decision = await app.deps.moderator.moderate({
      id: 1,
      webp: Buffer.alloc(8),
      origin: noOrigin,
    });
    assert.deepEqual([decision.status, decision.by], ["queued", "unavailable"]);
    const { key } = await find(({ key: { code } }) => code === "moderation.status");
    assert.deepEqual(
      [key.kind, key.place, key.peer, key.status],
      ["degraded", "avatar-moderation", peer(), 500],
    );
    assert.ok(!lines.some((line) => line.includes("SyntaxError")));
  });

  it("when a picture of a provider is gone", async () => {
    assert.equal(
      await app.deps.providerPictures.usable(`${other.url}/picture.png`, noOrigin),
      null,
    );
    const { key } = await find(({ key: { code } }) => code === "picture.status");
    assert.deepEqual([key.place, key.peer, key.status], ["provider-picture", peer(), 404]);
  });

  it("when a mail server refuses, defers or cannot be reached", async () => {
    const mail = (to: string): NewMessage => ({
      ...{ template: "sign-in-code", to, locale: "en", params: { code: secretCode } },
    });
    mails.refuse({ code: 550, text: "no such user" });
    await send(mail("ada@example.com"));
    const refused = await find(({ key: { code } }) => code === "smtp.refused");
    assert.deepEqual(
      [refused.key.kind, refused.key.place, refused.key.peer, refused.key.status],
      ["job", "mail", `127.0.0.1:${mails.port}`, 550],
    );
    await eventually("one failed job", async () => (await store.find(refused.id))?.numJobs === 1);
    mails.refuse({ code: 451, text: "greylisted" });
    await send(mail("grace@example.com"));
    const deferred = await find(({ key: { code } }) => code === "smtp.deferred");
    assert.deepEqual([deferred.key.status, deferred.numJobs], [451, 0]);
    app.deps.senders.mail = createSmtpMailer({
      url: "smtp://127.0.0.1:1",
      from: "a <b@c.example>",
    });
    await send(mail("joan@example.com"));
    const { key } = await find(({ key: { code } }) => code === "smtp.unreachable");
    assert.deepEqual([key.peer, key.status], ["127.0.0.1:1", null]);
  });

  it("when the provider of text messages answers 500", async () => {
    const to = "+491700000077";
    await send({ template: "sign-in-code-sms", to, locale: "en", params: { code: secretCode } });
    const { key } = await find(({ key: { code } }) => code === "sms.status");
    assert.deepEqual([key.place, key.peer, key.status], ["mail", peer(), 500]);
  });

  it("with the request, the player and the room of a response of 500", async () => {
    app.deps.faults.record({
      kind: "request",
      place: "POST /v1/x",
      error: new TypeError("a bug"),
      origin: { requestId: "request-77", playerId: 7, room: "lobby ABC234" },
    });
    const { example, numPlayers } = await find(({ key: { name } }) => name === "TypeError");
    assert.deepEqual(
      [example?.requestId, example?.room, numPlayers],
      ["request-77", "lobby ABC234", 1],
    );
  });
}

function masked(): void {
  it("nothing of any template reaches Redis or the log", async () => {
    const echo = await startMailServer({
      disabledCommands: ["STARTTLS"],
      onRcptTo: ({ address }, _session, done) =>
        done(
          Object.assign(new Error(`${address} ${secretCode} ${values["link"]}`), {
            responseCode: 550,
          }),
        ),
    });
    const { senders } = app.deps;
    const mailer = createSmtpMailer({
      url: `smtp://127.0.0.1:${echo.port}`,
      from: "a <b@c.example>",
    });
    senders.mail = mailer;
    for (const [name, { kind, params }] of Object.entries(templates)) {
      const to = kind === "mail" ? `${name}@example.com` : "+491700000078";
      const given = Object.keys(params).map((param) => [param, values[param] ?? "ada@example.com"]);
      const message = { template: name, to, locale: "en", params: Object.fromEntries(given) };
      await send(message as NewMessage);
    }
    const numFailed = async () =>
      (await store.list()).groups
        .filter(
          ({ key: { code, peer } }) => code === "smtp.refused" && peer === `127.0.0.1:${echo.port}`,
        )
        .reduce((sum, { total }) => sum + total, 0);
    const numMails = Object.values(templates).filter(({ kind }) => kind === "mail").length;
    await eventually("all mails failed", async () => (await numFailed()) >= numMails);
    mailer.close();
    await echo.stop();
    const stored = JSON.stringify([await dump(), lines]);
    for (const secret of [secretCode, secretToken, "ada@example", "joan@example", "491700000078"])
      assert.ok(!stored.includes(secret), `${secret} in ${around(stored, secret)}`);
    for (const name of Object.keys(templates))
      assert.ok(!stored.includes(`${name}@`), `${name} in ${around(stored, `${name}@`)}`);
  });
}

const around = (text: string, part: string) =>
  text.slice(Math.max(0, text.indexOf(part) - 200), text.indexOf(part) + 200);

/** Everything that queues and faults have in Redis. */
async function dump(): Promise<unknown[]> {
  const { redis } = app.deps;
  const found: unknown[] = [];
  for (const key of await redis.keys("jobs:*")) {
    const type = await redis.type(key);
    if (type === "hash") found.push(await redis.hgetall(key));
    if (type === "list") found.push(await redis.lrange(key, 0, -1));
    if (type === "zset") found.push(await redis.zrange(key, "0", "-1"));
    if (type === "stream") found.push(await redis.xrange(key, "-", "+"));
  }
  return found;
}
