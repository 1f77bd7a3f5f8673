import type { ConnectionOptions } from "node:tls";
import type { Transporter } from "nodemailer";
import { DeliveryError, sendLimitMs, type OutgoingMail, type Sender } from "./messages.ts";

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
  const { username, hostname } = new URL(options.url);
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
        throw smtpError(error);
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

/** A 5xx reply is permanent; all other failures are retried (RFC 5321, 4.2.1). */
function smtpError(error: unknown): DeliveryError {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const isRefused = typeof responseCode === "number" && responseCode >= 500;
  const isOurs = code === "EAUTH" || code === "ETLS";
  const facts = [code, responseCode].filter((each) => each !== undefined).join(" ");
  return new DeliveryError(`smtp: ${facts || "failed"}`, isRefused && !isOurs, error);
}
