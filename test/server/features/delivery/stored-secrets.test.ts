import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { Writable } from "node:stream";
import type { Redis } from "ioredis";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { sendMessage } from "../../../../server/features/delivery/domain/send.ts";
import {
  templates,
  type NewMessage,
} from "../../../../server/features/delivery/domain/templates.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { randomString } from "../../../../server/platform/ids.ts";
import { createLogger } from "../../../../server/platform/log/logger.ts";
import { startApp, type App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { post } from "../../../support/identity.ts";
import { startMailServer, type MailServer } from "../../../support/mail-server.ts";

const word = (count: number) => randomString(count, "abcdefghijklmnopqrstuvwxyz0123456789");
/** As the tokens in links. */
const token = () => randomBytes(32).toString("base64url");
const digits = (count: number) => randomString(count, "123456789");
/** Whose words hold everything that it was given, as those of some mail servers do. */
const said = new Map<string, string>();

/** Values of a message, and those of them that are secret or personal. */
function messageOf(name: keyof typeof templates) {
  const { kind, params } = templates[name];
  const to = kind === "mail" ? `to.${word(8)}@private.example` : `+4915${digits(9)}`;
  const secrets = [to];
  const values = Object.entries(params).map(([param, role]) => {
    if (role === "code") secrets.push(digits(6));
    else if (role === "reply") secrets.push(`re.${word(8)}@private.example`);
    else if (role === "text" || role === "quote") return [param, "some words"];
    else secrets.push(`https://ember.example/a?token=${token()}`);
    return [param, secrets.at(-1) ?? ""];
  });
  said.set(to, secrets.join(" "));
  const message = { to, template: name, locale: "en", params: Object.fromEntries(values) };
  return { kind, secrets, message: message as unknown as NewMessage };
}

/** Every key with its complete content, as text. */
async function contentOf(redis: Redis): Promise<string[]> {
  const readers: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, "0", "-1", "WITHSCORES"),
    stream: (key) => redis.xrange(key, "-", "+"),
  };
  const keys = await redis.keys("*");
  return Promise.all(
    keys.map(async (key) => {
      const read = readers[await redis.type(key)];
      return `${key} ${JSON.stringify((await read?.(key)) ?? null)}`;
    }),
  );
}

describe("what stays of a message that fails", () => {
  let mailServer: MailServer;
  let smsServer: Server;
  let app: App;
  const lines: string[] = [];

  before(async () => {
    mailServer = await startMailServer({
      disabledCommands: ["STARTTLS"],
      onData: (stream, session, done) => {
        const address = session.envelope.rcptTo[0]?.address ?? "";
        const text = `rejected: ${said.get(address) ?? address}`;
        stream.on("end", () => done(Object.assign(new Error(text), { responseCode: 550 })));
        stream.resume();
      },
    });
    smsServer = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { to } = JSON.parse(Buffer.concat(chunks).toString()) as { to: string };
      response.writeHead(400).end(`rejected: ${said.get(to) ?? to}`);
    });
    await new Promise<void>((done) => smsServer.listen(0, "127.0.0.1", done));
    const log = createLogger(
      parseConfig({ LOG_LEVEL: "debug" }),
      "test",
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          lines.push(String(chunk));
          done();
        },
      }),
    );
    app = await startApp({
      log,
      env: {
        SMTP_URL: `smtp://localhost:${mailServer.port}`,
        SMS_WEBHOOK_URL: `http://127.0.0.1:${(smsServer.address() as AddressInfo).port}/`,
      },
    });
  });
  after(async () => {
    await app.stop();
    await mailServer.stop();
    await new Promise((done) => smsServer.close(done));
  });

  it("has no address, number, token or code of any template, in Redis, logs or failures", async () => {
    const messages = (Object.keys(templates) as (keyof typeof templates)[]).map(messageOf);
    const origin = { requestId: "request-of-secrets", playerId: null, room: null };
    for (const { message } of messages)
      await sendMessage({ ...app.deps, em: app.deps.em, origin }, message);
    // The ways of the service that take an address, so that its limits and locks are counted.
    const email = `asked.${word(8)}@private.example`;
    said.set(email, email);
    const password = `horse ${word(20)}`;
    await post(app, "/v1/users", { email, username: `u_${digits(9)}`, password });
    for (let n = 0; n < 6; n++)
      await post(app, "/v1/gateway/login", { identifier: email, password: `wrong ${n}` });
    const failed = async () => {
      const rows = await rowsOf(
        app.deps.em,
        sql<{ status: string }>`select status from messages where status in ('failed', 'expired')`,
      );
      return rows.length > messages.length - 1;
    };
    await eventually("the messages have failed", failed);
    await eventually("their failures are recorded", async () => {
      const keys = await app.deps.redis.keys("jobs:faults:group:*");
      return keys.length >= 2;
    });
    const errors = await rowsOf(
      app.deps.em,
      sql<{ text: string }>`select coalesce(last_error, '') as text from messages`,
    );
    const stored = await contentOf(app.deps.redis);
    assert.ok(stored.some((text) => text.startsWith("jobs:faults:group:")));
    assert.ok(stored.some((text) => text.includes(":logs") && text.includes("rejected: ***")));
    assert.ok(lines.some((line) => line.includes("request-of-secrets")));
    const places = [...stored, ...lines, ...errors.map(({ text }) => text)];
    const secrets = [...messages.flatMap((one) => one.secrets), email, password].flatMap(
      (secret) => [secret, ...(/token=([\w-]+)/.exec(secret)?.slice(1) ?? [])],
    );
    // No key may hold one: jobs carry ids, and counters of addresses have keyed digests.
    const leaks = secrets.flatMap((secret) => {
      const forms = [secret, encodeURIComponent(secret)];
      const found = places.filter((text) => forms.some((form) => text.includes(form)));
      return found.map((text) => `${secret} in ${text.slice(0, 300)}`);
    });
    assert.deepEqual(leaks, []);
  });
});
