import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { sendMessage } from "../../../../server/features/delivery/domain/send.ts";
import { startApp, type App } from "../../../support/app.ts";
import { sentMessage } from "../../../support/messages.ts";
import { sendRaw } from "../../../support/raw-http.ts";

interface Listed {
  id: number;
  kind: string;
  to: string;
  subject: string;
  code: string | null;
  links: string[];
}

describe("the development inbox", () => {
  let app: App;
  const ada = "ada@example.com";
  const list = async (query = "") => {
    const answer = await app.client.get(`/inbox/messages${query}`);
    return (answer.body as { messages: Listed[] }).messages;
  };
  const statusOf = async (path: string, host: string, more = "") => {
    const port = Number(new URL(app.url).port);
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;
    const options = { responses: 1, isHead: false };
    return (await sendRaw(port, head, options)).responses[0]?.status;
  };

  before(async () => {
    app = await startApp();
    const code = { template: "sign-in-code", locale: "en", params: { code: "123456" } } as const;
    await sendMessage(app.deps, { ...code, to: ada });
    await sendMessage(app.deps, { ...code, template: "phone-code", to: "+4915112345678" });
    const link = "https://play.example/reset-password?token=a&b=<c>";
    await sendMessage(app.deps, {
      template: "reset-password",
      to: "bob@example.com",
      locale: "fr",
      params: { link },
    });
    await sentMessage(app.deps, ada, "sign-in-code");
    await sentMessage(app.deps, "+4915112345678", "phone-code");
    await sentMessage(app.deps, "bob@example.com", "reset-password");
  });
  after(() => app.stop());

  it("lists mails and text messages with their codes and links, newest first", async () => {
    const [reset, sms, mail] = await list();
    assert.deepEqual(reset?.links, ["https://play.example/reset-password?token=a&b=<c>"]);
    assert.equal(reset?.code, null);
    assert.equal(reset?.subject, "Set a new password");
    assert.deepEqual([sms?.kind, sms?.to, sms?.code], ["sms", "+4915112345678", "123456"]);
    assert.deepEqual([mail?.kind, mail?.to, mail?.code], ["mail", ada, "123456"]);
  });

  it("filters messages by kind and address", async () => {
    assert.deepEqual(
      (await list("?kind=sms")).map(({ kind }) => kind),
      ["sms"],
    );
    assert.deepEqual(
      (await list("?to=%20ADA@Example.com")).map(({ to }) => to),
      [ada],
    );
    assert.deepEqual(
      (await list("?to=%2B4915112345678")).map(({ kind }) => kind),
      ["sms"],
    );
    assert.equal((await list("?limit=1")).length, 1);
    assert.deepEqual(await list("?to=nobody%25"), []);
    assert.equal((await app.client.get("/inbox/messages?kind=fax")).status, 400);
  });

  it("shows a mail's HTML in a sandbox", async () => {
    const [reset, sms] = await list();
    const answer = await app.client.get(`/inbox/messages/${reset?.id}/html`);
    assert.match(answer.text, /token=a&#38;b=&#60;c&#62;/);
    assert.match(
      answer.headers.get("content-security-policy") ?? "",
      /default-src 'none'.*sandbox/,
    );
    for (const id of [sms?.id, 999_999, 2 ** 40, "x"])
      assert.equal((await app.client.get(`/inbox/messages/${id}/html`)).status, 404);
  });

  it("is available to the local machine only", async () => {
    for (const path of ["/inbox", "/inbox/messages"]) {
      assert.equal(await statusOf(path, "localhost:8080"), 200);
      assert.equal(await statusOf(path, "[::1]:8080"), 200);
      assert.equal(await statusOf(path, "evil.example"), 404);
      assert.equal(await statusOf(path, "localhost", "X-Forwarded-For: 203.0.113.9\r\n"), 404);
    }
  });

  it("does not exist in production", async () => {
    const production = await startApp({
      hasJobs: false,
      env: {
        APP_ENV: "production",
        APP_SECRET: randomBytes(32).toString("hex"),
        PUBLIC_BASE_URL: "https://games.example",
        RATE_LIMIT_FACTOR: "1",
      },
    });
    try {
      for (const path of ["/inbox", "/inbox/messages", "/inbox/messages/1/html"])
        assert.equal((await production.client.get(path)).status, 404);
    } finally {
      await production.stop();
    }
  });
});
