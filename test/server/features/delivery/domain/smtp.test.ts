import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createSmtpMailer } from "../../../../../server/features/delivery/providers/mailer.ts";
import type { OutgoingMail } from "../../../../../server/features/delivery/providers/messages.ts";
import { mailCertificate } from "../../../../support/mail-certificate.ts";
import { credentials, startMailServer, type MailServer } from "../../../../support/mail-server.ts";

const mail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: "message-7",
  to: "ada@example.com",
  fromName: "Bright, Game",
  subject: "Grüße",
  text: "Code 123456",
  html: "<p>Code 123456</p>",
  replyTo: null,
  unsubscribeUrl: null,
  ...change,
});
const from = "emberline <no-reply@ember.example>";
const login = `${credentials.user}:${encodeURIComponent(credentials.password)}`;

describe("mail by SMTP", () => {
  let server: MailServer;
  const open = (auth = `${login}@`, tls: object = { ca: mailCertificate }) =>
    createSmtpMailer({ url: `smtp://${auth}localhost:${server.port}`, from, tls });

  before(async () => {
    server = await startMailServer();
  });
  after(() => server.stop());

  it("uses STARTTLS with a login, and has text and HTML parts", async () => {
    const mailer = open();
    const unsubscribeUrl = "https://ember.example/v1/unsubscribe?email=a&token=b";
    await mailer.send(mail({ unsubscribeUrl, replyTo: "bob@example.com" }));
    mailer.close();
    const received = server.received.at(-1);
    assert.ok(received);
    assert.equal(received.isEncrypted, true);
    assert.equal(received.user, credentials.user);
    assert.equal(received.from, "no-reply@ember.example");
    assert.deepEqual(received.to, ["ada@example.com"]);
    const source = received.source.replaceAll("\r\n ", " ");
    assert.match(source, /^From: "Bright, Game" <no-reply@ember\.example>\r$/m);
    assert.match(source, /^Message-ID: <message-7@ember\.example>\r$/m);
    assert.match(source, /^Subject: =\?UTF-8\?/m);
    assert.match(source, /^Reply-To: bob@example\.com\r$/m);
    assert.match(
      source,
      /^List-Unsubscribe: <https:\/\/ember\.example\/v1\/unsubscribe\?email=a&token=b>\r$/m,
    );
    assert.match(source, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    assert.match(source, /multipart\/alternative/);
    assert.match(
      source,
      /text\/plain[\s\S]*Code 123456[\s\S]*text\/html[\s\S]*<p>Code 123456<\/p>/,
    );
  });

  it("never lets a text inject a header or another recipient", async () => {
    const mailer = open();
    const evil = "x\r\nBcc: eve@example.com\r\n\r\nbody";
    await mailer.send(
      mail({ subject: evil, fromName: evil, replyTo: "bob@example.com\r\nBcc: eve@example.com" }),
    );
    mailer.close();
    const received = server.received.at(-1);
    assert.deepEqual(received?.to, ["ada@example.com"]);
    assert.doesNotMatch(received?.source ?? "", /^Bcc:/m);
  });

  it("is not sent to a server with an untrusted certificate", async () => {
    const mailer = open(`${login}@`, {});
    const before = server.received.length;
    await assert.rejects(mailer.send(mail()), {
      ...{ code: "smtp.unreachable", isPermanent: false },
      message: /self-signed certificate/,
    });
    mailer.close();
    assert.equal(server.received.length, before);
  });

  it("is retried after a transient refusal or a wrong login, not after a permanent refusal", async () => {
    const mailer = open();
    server.refuse({ code: 451, text: "greylisted ada@example.com" });
    await assert.rejects(mailer.send(mail()), {
      ...{ code: "smtp.deferred", peer: `localhost:${server.port}`, status: 451 },
      ...{ isPermanent: false, text: "451 greylisted ***" },
    });
    server.refuse({ code: 550, text: "no such user ada@example.com" });
    await assert.rejects(mailer.send(mail()), {
      ...{ code: "smtp.refused", peer: `localhost:${server.port}`, status: 550 },
      ...{ isPermanent: true, text: "550 no such user ***" },
    });
    server.refuse(null);
    mailer.close();
    const wrongUser = open("sender:wrong@");
    await assert.rejects(wrongUser.send(mail()), {
      ...{ code: "smtp.login_refused", status: 535, isPermanent: false },
    });
    wrongUser.close();
  });

  it("is retried when nothing listens", async () => {
    const mailer = createSmtpMailer({ url: "smtp://127.0.0.1:1", from });
    await assert.rejects(mailer.send(mail()), {
      ...{ code: "smtp.unreachable", peer: "127.0.0.1:1", status: null, isPermanent: false },
      message: "smtp.unreachable at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1",
    });
    mailer.close();
  });

  it("does not send a password to a remote server without encryption", async () => {
    const plain = await startMailServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
    });
    // A spelling of 127.0.0.1 that is not recognizable as the local machine.
    const url = `smtp://${login}@127.1:${plain.port}`;
    const mailer = createSmtpMailer({ url, from });
    await assert.rejects(mailer.send(mail()), { code: "smtp.tls" });
    mailer.close();
    assert.deepEqual(plain.received, []);
    await plain.stop();
  });
});
