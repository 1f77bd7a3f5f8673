import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { mailCertificate, mailKey } from "./mail-certificate.ts";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** The complete mail in wire form. */
  source: string;
  isEncrypted: boolean;
  user: string | null;
}

export interface MailServer {
  port: number;
  received: ReceivedMail[];
  /** Response to RCPT TO from now on; null accepts. */
  refuse(answer: { code: number; text: string } | null): void;
  stop(): Promise<void>;
}

const user = "sender";
export const credentials = { user, password: "s3cret word" };

/** A real SMTP server with STARTTLS and one user; its certificate is `mailCertificate`. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let refusal: { code: number; text: string } | null = null;
  const server = new SMTPServer({
    key: mailKey,
    cert: mailCertificate,
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      username === user && password === credentials.password
        ? done(null, { user })
        : done(Object.assign(new Error("wrong password"), { responseCode: 535 })),
    onRcptTo: (_address, _session, done) =>
      refusal === null
        ? done()
        : done(Object.assign(new Error(refusal.text), { responseCode: refusal.code })),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString("utf8"),
          isEncrypted: session.secure,
          user: typeof session.user === "string" ? session.user : null,
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    received,
    refuse: (answer) => {
      refusal = answer;
    },
    stop: () => new Promise((done) => server.close(done)),
  };
}
