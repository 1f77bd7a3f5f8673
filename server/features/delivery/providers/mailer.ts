import type { ConnectionOptions } from "node:tls";
import type { Transporter } from "nodemailer";
import { Fault, type FaultCode } from "../../../platform/faults/fault.ts";
import { sendLimitMs, type OutgoingMail, type Sender } from "./messages.ts";

export interface SmtpOptions {
  /** smtp:// or smtps://, with credentials if the server requires them. */
  url: string;
  from: string;
  tls?: ConnectionOptions;
}

const connectLimitMs = 8_000;
/** Connections of a process, and mails per connection. */
const maxConnections = 4;
const maxMessages = 100;
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Sends by SMTP over pooled connections; STARTTLS is used where offered, and required for credentials. */
export function createSmtpMailer(options: SmtpOptions): Sender<OutgoingMail> {
  const url = new URL(options.url);
  const { username, hostname } = url;
  // The port that the library takes without one in the address.
  const peer = `${hostname}:${url.port || (url.protocol === "smtps:" ? 465 : 587)}`;
  let opening: Promise<Transporter> | null = null;
  const open = async () => {
    const { default: nodemailer } = await import("nodemailer");
    return nodemailer.createTransport({
      url: options.url,
      pool: true,
      maxConnections,
      maxMessages,
      connectionTimeout: connectLimitMs,
      greetingTimeout: connectLimitMs,
      socketTimeout: sendLimitMs,
      // A downgrade attack on STARTTLS must not expose the password.
      requireTLS: username !== "" && !loopback.test(hostname),
      disableFileAccess: true,
      disableUrlAccess: true,
      ...(options.tls ? { tls: options.tls } : {}),
    });
  };
  const address = addressOf(options.from);
  return {
    name: "smtp",
    keepsContent: false,
    send: async (mail) => {
      try {
        const transport = await (opening ??= open());
        await transport.sendMail(composed(mail, address));
      } catch (error) {
        throw smtpFault(error, peer, mail);
      }
    },
    close: () => void opening?.then((transport) => transport.close()),
  };
}

/** The mail as the library takes it; it encodes every header itself. */
function composed(mail: OutgoingMail, address: string) {
  return {
    messageId: `<${mail.id}@${address.slice(address.lastIndexOf("@") + 1)}>`,
    from: { name: mail.fromName, address },
    to: { name: "", address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    ...(mail.replyTo === null ? {} : { replyTo: { name: "", address: mail.replyTo } }),
    headers: { "Auto-Submitted": "auto-generated", ...unsubscribeHeaders(mail.unsubscribeUrl) },
  };
}

function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {};
  return {
    "List-Unsubscribe": `<${url}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  };
}

/** The address in `Name <a@b>`, or the whole text. */
function addressOf(from: string): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim();
}

const codes: Readonly<Record<string, FaultCode>> = {
  EAUTH: "smtp.login_refused",
  ETLS: "smtp.tls",
  ETIMEDOUT: "smtp.timeout",
};

/** A 5xx reply is permanent; all other failures are retried (RFC 5321, 4.2.1). */
function smtpFault(error: unknown, peer: string, mail: OutgoingMail): Fault {
  const { code, responseCode, response, message } = error as Partial<Record<string, unknown>>;
  const status = typeof responseCode === "number" ? responseCode : null;
  const own = typeof code === "string" ? codes[code] : undefined;
  const replied =
    status === null ? "smtp.unreachable" : status >= 500 ? "smtp.refused" : "smtp.deferred";
  return new Fault(own ?? replied, {
    peer,
    text: String(response ?? message ?? ""),
    // Servers repeat the address, or its first part (S27).
    secrets: [mail.to, mail.to.slice(0, mail.to.indexOf("@"))],
    isPermanent: own === undefined && status !== null && status >= 500,
    ...(status === null ? {} : { status }),
    cause: error,
  });
}
